"""Documents of a stream with the labels of their blocks: gold pages, or the stories of a daily of our own making."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.samples.courier import BEGINS, STORIES_A_DAY, Courier
from benchmarks.samples.drawn_page import CONTENT, DrawnPage
from benchmarks.samples.sample_site import Moment
from dbce_spark.archive.index.urls import url_key as archive_key
from dbce_spark.config import DbceConfig
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.gold_stream import arrivals
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.evaluation.training.training_examples import held
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import Parsed, parse
from dbce_spark.model import Blocks, Numbers
from dbce_spark.streaming.urltree.url_keys import UrlKey, url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

COMMENTS, LINKS, TEXT = "comments", "links", "text"
"""Kinds of boilerplate that gold pages tell: readers' comments, blocks of which links are most, and all else."""
_HUE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiedDocument:
    """A page as a tree takes it, and what each of its blocks is. Columns have one entry a block, in page order."""

    page: GoldPage
    key: UrlKey
    blocks: Blocks
    words: tuple[tuple[int, ...], ...]  # the words of each block, by numbers
    kinds: tuple[str, ...]  # CONTENT, or a kind of boilerplate
    gold: tuple[int, ...]  # the words of the gold text, by the same numbers

    @property
    def stream(self) -> str:
        """Name the stream that the document comes in: its domain, apart from the same domain in another set."""
        return f"{self.page.dataset}: {self.key.domain}"

    @property
    def sizes(self) -> Numbers:
        """Count the words of each block."""
        return np.array([len(words) for words in self.words], np.int64)


def of_gold(pages: Sequence[GoldPage], config: DbceConfig, tree: UrlTreeConfig) -> list[StudiedDocument]:
    """Parse gold pages of one set, in the order of their arrival; pages that cannot be parsed are left out."""
    found: list[StudiedDocument] = []
    taken: set[tuple[str, tuple[str, ...]]] = set()
    for page in arrivals(pages):
        try:
            parsed = parse(page.body, "utf-8", config.page)
        except PageError:
            continue
        key = url_key(page.address, parsed.declared.title, tree.keys.rules)
        if (key.domain, key.branch) in taken:  # a stream would drop it, but it has gold
            key = replace(key, branch=(*key.branch, page.page_id))
        taken.add((key.domain, key.branch))
        found.append(_of_gold(page, key, parsed))
    return found


def _of_gold(page: GoldPage, key: UrlKey, parsed: Parsed) -> StudiedDocument:
    blocks = parsed.blocks
    texts = [words(blocks.text_of(at)) for at in range(len(blocks))]
    counted = np.array([len(text) for text in texts], np.int64)
    in_gold, in_comments = held(page.gold, texts), held(page.comments, texts)
    is_link = blocks.link_words * 2 > blocks.words
    kinds = np.select([in_gold * 2 >= counted, in_comments * 2 >= counted, is_link], [CONTENT, COMMENTS, LINKS], TEXT)
    return _studied(page, key, blocks, tuple(kinds.tolist()))


def _studied(page: GoldPage, key: UrlKey, blocks: Blocks, kinds: tuple[str, ...]) -> StudiedDocument:
    numbers: dict[str, int] = {}
    gold, *texts = (
        tuple([numbers.setdefault(word, len(numbers)) for word in words(text)])
        for text in (page.gold, *(blocks.text_of(at) for at in range(len(blocks))))
    )
    return StudiedDocument(page=page, key=key, blocks=blocks, words=tuple(texts), kinds=kinds, gold=gold)


def of_courier(site: Courier, count: int, config: DbceConfig, tree: UrlTreeConfig) -> Iterator[StudiedDocument]:
    """Draw the first stories of a daily, each when it comes out.

    Raises:
        ValueError: a page has other blocks than were drawn.
    """
    begins = datetime.combine(BEGINS, datetime.min.time(), tzinfo=UTC)
    for number in range(count):
        drawn = site.draw(site.lists + number, Moment(0, 0))
        when = begins + timedelta(days=number / STORIES_A_DAY)
        page = _gold_page(site, number, drawn, when)
        parsed = parse(page.body, "utf-8", config.page)
        texts = [parsed.blocks.text_of(at) for at in range(len(parsed.blocks))]
        if [" ".join(text.split()) for text in texts] != [block.text for block in drawn.blocks]:
            raise ValueError(f"{page.url} has other blocks than were drawn")
        key = url_key(page.url, parsed.declared.title, tree.keys.rules)
        yield _studied(page, key, parsed.blocks, tuple(block.kind for block in drawn.blocks))


def _gold_page(site: Courier, number: int, drawn: DrawnPage, when: datetime) -> GoldPage:
    url = f"http://{site.host}{site.path(site.lists + number)}"
    return GoldPage(
        dataset=site.name,
        page_id=str(number),
        url=url,
        site=site.host,
        group=site.host,
        url_key=archive_key(url),
        timestamp=round(when.timestamp() * 1_000_000),
        lang=site.language,
        page_type=site.kind,
        html=drawn.html,
        gold="\n".join(drawn.content),
    )


def courier(documents: int, copies: float, seed: int) -> Courier:
    """Make the daily of so many stories."""
    return Courier("www.courier.example", f"courier-{copies:g}", str(seed), documents + 1, _HUE, copies=copies)


def by_stream(documents: Sequence[StudiedDocument]) -> dict[str, list[StudiedDocument]]:
    """Group documents by their streams."""
    found: dict[str, list[StudiedDocument]] = {}
    for one in documents:
        found.setdefault(one.stream, []).append(one)
    return found
