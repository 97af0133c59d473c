"""Measure what a browser would add to the classifier of `dbce extract`:
`python -m benchmarks.programs.rendered_features FOLDER PAGES...`.

Of the gold pages of each file as many as LIMIT allows are taken, whole groups together, shown in a headless Chromium,
and their blocks learnt of twice: with the classifier's own features, and with how they look beside these. Folds by
sites; all as in `dbce train` and `dbce extract` but for the pages, which are fewer. Renderings are kept in FOLDER.
"""

import dataclasses
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
from tqdm import tqdm

from dbce_spark import config
from dbce_spark.annotation import rendering
from dbce_spark.annotation.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.rendering import RenderedText, Rendering
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import classify, features, local
from dbce_spark.dbce.classify import Classifier
from dbce_spark.dbce.features import Columns
from dbce_spark.errors import InputError
from dbce_spark.evaluation import bootstrap, datasets, metrics
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.training import trainer, training_examples
from dbce_spark.evaluation.training.training_examples import Example
from dbce_spark.model import Extraction, Page
from reproductions.krdwrd.segment_features import visual

LIMIT = 200
"""Pages of a file: a browser takes more than a second for each."""

FOLDS = 3
TREES = {"FIRST_TREES": 40, "SECOND_TREES": 80, "THIRD_TREES": 80, "REPLY_TREES": 20}
"""Of each forest: a quarter to a half of what `dbce train` grows, for a tenth of its pages."""
_NONE: Columns = {}
Found = Mapping[str, Mapping[str, Extraction]]
"""Extractions by what pages were set beside ("alone", "siblings"), and by capture id."""


def main(folder: str, *paths: str) -> None:
    """Prints a table of Markdown."""
    conf = config.default()
    examples = training_examples.read((page for path in paths for page in chosen(path)), conf)
    shown = renderings(examples, Path(folder) / "renderings.jsonl.xz")
    examples = [one for one in examples if one.page.capture_id in shown]
    looks = {one.page.capture_id: columns(shown[one.page.capture_id]) for one in examples}
    own = judged(examples, {}, Path(folder), conf)
    print(table(examples, [own, judged(examples, looks, Path(folder), conf)]))


def chosen(path: str) -> list[GoldPage]:
    """Groups of pages by chance until there are enough."""
    groups: dict[str, list[GoldPage]] = defaultdict(list)
    for page in (page for some in datasets.read([path]).sets.values() for page in some):
        groups[page.group or page.page_id].append(page)
    order = sorted(groups)
    random.Random(trainer.SEED).shuffle(order)
    ends = np.cumsum([len(groups[name]) for name in order])
    return [page for name in order[: int(np.searchsorted(ends, LIMIT)) + 1] for page in groups[name]]


def renderings(examples: Sequence[Example], path: Path) -> Mapping[str, Rendering]:
    """How each page looks, by capture id, from a file where that is there; without those Chromium gives up on."""
    if not path.exists():
        rendering.write(str(path), _rendered(examples))
    return {one.page: one for one in rendering.read(str(path))}


def _rendered(examples: Sequence[Example]) -> Iterator[Rendering]:
    waiting = iter([rendering.of_sheet(_sheet(one)) for one in tqdm(examples, desc="marked")])
    bar = tqdm(waiting, desc="shown", total=len(examples))
    while True:
        try:
            yield from rendering.render(bar)
        except InputError as error:
            print(error, file=sys.stderr)
        else:
            return


def _sheet(one: Example) -> Sheet:
    blocks = one.page.blocks
    spans = tuple(map(SegmentSpan, blocks.xpaths, blocks.starts.tolist(), blocks.ends.tolist()))
    return Sheet(page=one.page.capture_id, html=one.gold.html, text=blocks.text, segments=spans)


def columns(of: Rendering) -> Columns:
    """How blocks look: KrdWrd's eight features, sizes and places beside those of the page, and the next blocks."""
    found = dict(zip(visual.NAMES, visual.features(of).T, strict=True))
    left, right, top = np.array([_edges(run) for run in of.runs]).reshape(-1, 3).T
    area, font = np.expm1(found["area"]), np.expm1(found["font size"])
    found |= {
        "right": right / max(1.0, of.width),
        "width": (right - left) / max(1.0, of.width),
        "pixels from the top": top,
        "font of the page": font / max(1.0, _middle(font, area)),
        "from the main column": left - _middle(left, area),
        "below the largest": top - top[np.argmax(area)],
        "share of the page": area / max(1.0, float(area.sum())),
    }
    for name in ("left", "width", "font size", "area", "visible"):
        found |= {f"{name}-1": np.append(-1, found[name][:-1]), f"{name}+1": np.append(found[name][1:], -1)}
    return {f"looks {name}": values for name, values in found.items()}


def _edges(run: RenderedText) -> tuple[float, float, float]:
    """The left, the right and the upper one of all boxes; -1 where there is none."""
    boxes = run.boxes or ((-1, -1, 0, 0),)
    return min(box[0] for box in boxes), max(box[0] + box[2] for box in boxes), min(box[1] for box in boxes)


def _middle(values: features.Values, weights: features.Values) -> float:
    """The weighted median."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(running, running[-1] / 2)])


def judged(examples: Sequence[Example], looks: Mapping[str, Columns], folder: Path, conf: DbceConfig) -> Found:
    """What is extracted of each page by a classifier that has not seen its site: alone, and beside its siblings."""
    own = training_examples.page_columns

    def seen(some: Sequence[Example]) -> Columns:
        return own(some) | (training_examples.joined([looks[one.page.capture_id] for one in some]) if looks else _NONE)

    one_thread = patch.dict("dbce_spark.evaluation.training.trainer._PARAMETERS", num_threads=1)
    with patch.object(training_examples, "page_columns", seen), patch.dict(vars(trainer), TREES), one_thread:
        prepared = trainer.prepare(examples, conf)
        fold_of = trainer.folds(prepared.sites, FOLDS)
        found: dict[str, dict[str, Extraction]] = {"alone": {}, "siblings": {}}
        for fold in tqdm(range(FOLDS), desc="folds"):
            classifier = trainer.train(prepared, fold_of != fold, {})
            path = folder / f"{'looks' if looks else 'own'}-{fold}.npz"
            classify.save(classifier, path)
            label = dataclasses.replace(conf.label, classifier=str(path))
            of_fold = dataclasses.replace(conf, label=label)
            pages = [
                _looked_at(one, classifier, looks)
                for one, at in zip(examples, fold_of.tolist(), strict=True)
                if at == fold
            ]
            found["siblings"] |= {one.page.capture_id: one for one in local.extract_pages(pages, of_fold)}
            for page in pages:
                found["alone"] |= {one.page.capture_id: one for one in local.extract_pages([page], of_fold)}
    return found


def _looked_at(one: Example, classifier: Classifier, looks: Mapping[str, Columns]) -> Page:
    of_page = features.of_pages
    with patch.object(features, "of_pages", lambda pages: of_page(pages) | looks.get(one.page.capture_id, _NONE)):
        (traits,) = classifier.block_features([one.parsed])
    return dataclasses.replace(one.page, features=traits)


def table(examples: Sequence[Example], found: Sequence[Found]) -> str:
    """F1 of the words of blocks and ROUGE-L, means of pages, with and without; and how sure the difference is."""
    lines = [
        "| pages | beside | number | measure | own | and looks | more by (95 % of draws of sites) |",
        "|---|---|---|---|---|---|---|",
    ]
    sets = ["all", *dict.fromkeys(one.gold.dataset for one in examples)]
    lonely = {one.page.capture_id for one in examples if not found[0]["siblings"][one.page.capture_id].crosses}
    for beside in ("alone", "siblings"):
        for name in sets:
            some = [
                one
                for one in examples
                if name in ("all", one.gold.dataset) and (beside == "alone" or one.page.capture_id not in lonely)
            ]
            if not some:
                continue
            for measure, of in (("F1 of blocks", blocks_f1), ("ROUGE-L", rouge)):
                values = np.array([[of(one, by[beside][one.page.capture_id]) for one in some] for by in found])
                units = bootstrap.numbered([one.page.capture.site for one in some])
                more = bootstrap.differences(values, np.ones(len(some)), units)[1]
                own, seen = values.mean(axis=1)
                lines.append(
                    f"| {name} | {beside} | {len(some)} | {measure} | {own:.3f} | {seen:.3f} | {more.mean:+.3f}"
                    f" ({more.low:+.3f} to {more.high:+.3f}) |"
                )
    return "\n".join(lines)


def blocks_f1(one: Example, of: Extraction) -> float:
    """Of the words of blocks that are kept and of those that hold the gold."""
    is_content = (2 * one.held >= one.counted) & (one.counted > 0)
    kept = np.zeros(len(one.counted), np.bool_)
    kept[of.segments.blocks[of.segments.labels == 1]] = True
    both, of_gold, of_kept = (int(one.counted[rows].sum()) for rows in (kept & is_content, is_content, kept))
    return 2 * both / (of_gold + of_kept) if of_gold + of_kept else 1.0


def rouge(one: Example, of: Extraction) -> float:
    return metrics.rouge_l(metrics.words(one.gold.gold), metrics.words(of.text)).f1


if __name__ == "__main__":
    main(*sys.argv[1:])
