"""The worst pages of an extractor, with the gold and its own text over them: why a score is what it is."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.extracted_texts import Texts
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.scores import Scores
from dbce_spark.files import storage
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import PageError
from dbce_spark.model import digest
from dbce_spark.report import overlay
from dbce_spark.report.overlay import Contrast, Names

FOLDER = "contrasts"
"""The folder that they lie in, beside the report."""


def write(output: str, scores: Scores, sets: Sets, texts: Texts, *, count: int) -> dict[str, str]:
    """Write the `count` worst pages of each extractor that have an element, in place of those of an earlier run. Return
    the path of each listing, relative to the report."""
    storage.remove(f"{output.rstrip('/')}/{FOLDER}")
    found = {}
    for extractor in scores.extractors:
        place = f"{FOLDER}/{digest(extractor)[:8]}"
        contrasts = _contrasts(worst(scores, sets, extractor), texts[extractor])
        overlay.write(f"{output.rstrip('/')}/{place}", islice(contrasts, count), Names("gold", extractor))
        found[extractor] = f"{place}/index.html"
    return found


def worst(scores: Scores, sets: Sets, extractor: str) -> list[GoldPage]:
    """Order pages by the F1 of an extractor, the lowest first."""
    pages = {(name, page.page_id): page for name, some in sets.items() for page in some}
    order = np.argsort(scores.f1[scores.extractors.index(extractor)], kind="stable").tolist()
    return [pages[scores.pages[at].dataset, scores.pages[at].page_id] for at in order]


def of_page(page: GoldPage, text: str) -> Contrast:
    """Label a page's text nodes twice: by its gold, and by a text.

    Raises:
        PageError: it has no element.
    """
    html = decode(page.body, "utf-8").html.decode()  # without control characters, which no tree takes
    found = leaves.parse_leaves(html)
    return Contrast(
        page=f"{page.dataset} {page.page_id}",
        url=page.url,
        html=html,
        text=found.joined,
        spans=found.spans,
        reference=leaves.labels(found, page.gold),
        given=leaves.labels(found, text),
    )


def _contrasts(pages: Sequence[GoldPage], texts: Mapping[str, Mapping[str, Extracted]]) -> Iterator[Contrast]:
    for page in pages:
        try:
            yield of_page(page, texts[page.dataset][page.page_id].text)
        except PageError:
            continue
