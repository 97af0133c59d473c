"""The results of one run of the benchmark, or of several, of which later ones replace what they have measured again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.leaderboard import evaluations, phrases
from benchmarks.leaderboard.evaluations import Evaluation, TextsBySet
from benchmarks.leaderboard.phrases import PhraseScore, VerbatimScore
from dbce_spark.errors import InputError
from dbce_spark.evaluation import formats

WHOLE, ARTICLES, PHRASES = "whole", "articles", "phrases"
"""Folders of a run: sets that readers labelled whole, sets of articles by their own gold, pages by phrases."""

READER = "second reader"

EDITS = "levenshtein"
"""The metric that counts edits."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The way in which those who made a set compare texts, and what they have published."""

    metric: str
    published: str


OWN_MEASURES = {
    "wcxb": Measure(
        "bag_of_words",
        "As its author, who also made rs-trafilatura, publishes for the 1,497 pages of its development part (arXiv"
        " 2605.21097; the pages here are some of all its 2,008): rs-trafilatura .859, MinerU-HTML .827, trafilatura"
        " .791, dom-smoothie .762, Newspaper4k .720, jusText .707, BoilerPy3 .687, Readability .675, Goose3 .651; by"
        " type, rs-trafilatura .808 on forums and .641 on products (.792 and .670 in its own README). On the 511 pages"
        " that are held out: rs-trafilatura .893.",
    )
}
"""Conventions by set."""


@dataclass(frozen=True, slots=True)
class PhraseSet:
    """The scores of texts by phrases, by extractor: the one with most good pages first, the reader before it."""

    name: str
    pages: int
    scores: Mapping[str, tuple[PhraseScore, VerbatimScore]]


@dataclass(frozen=True, slots=True)
class Results:
    """All that a leaderboard shows. A part that was not run is not there."""

    evaluated: Mapping[str, Evaluation]  # by WHOLE and ARTICLES
    by_own_measure: Mapping[str, Evaluation]  # sets of OWN_MEASURES, by their names
    by_edits: Evaluation | None  # ARTICLES by EDITS
    phrases: Sequence[PhraseSet]
    described: Sequence[tuple[str, Mapping[str, Any]]]  # part, and the description of each of its evaluations
    versions: Mapping[str, str]  # of extractors that are packages


def read(runs: Sequence[str], phrase_files: Sequence[str] = (), readers: Sequence[str] = ()) -> Results:
    """Read the folders of runs, which have the folders WHOLE, ARTICLES and PHRASES, or some of them.

    `phrase_files` hold the phrases of the pages in PHRASES; `readers` are sets, and where one has the name of such a
    file, another reader has marked the content of its pages.

    Raises:
        InputError: a folder holds no results, or those of several do not belong together.
    """
    parts = (WHOLE, ARTICLES, PHRASES)
    folders = {part: [f"{run}/{part}" for run in runs if Path(run, part).is_dir()] for part in parts}
    if not any(folders.values()):
        raise InputError(f"{', '.join(runs)}: no folder {', '.join(parts)} in it; run `make benchmark`")
    texts = evaluations.texts(folders[PHRASES])
    marked = _marked(readers) if texts else {}
    return Results(
        {part: evaluations.read(folders[part]) for part in (WHOLE, ARTICLES) if folders[part]},
        _by_own_measure(folders[ARTICLES]),
        evaluations.read(folders[ARTICLES], EDITS) if folders[ARTICLES] else None,
        [_phrase_set(path, texts, marked) for path in phrase_files if phrases.name_of(path) in texts],
        [(part, evaluations.description(folder)) for part in parts for folder in folders[part]],
        evaluations.versions([folder for part in parts for folder in folders[part]]),
    )


def _by_own_measure(folders: Sequence[str]) -> dict[str, Evaluation]:
    found = {name: evaluations.read(folders, measure.metric, name) for name, measure in OWN_MEASURES.items() if folders}
    return {name: evaluation for name, evaluation in found.items() if evaluation.pages}


def _marked(readers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read what readers marked, by set and page id."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path in readers:
        for entry in formats.entries(path):
            found[entry.fields.get("dataset") or phrases.name_of(path)][entry.fields["id"]] = entry.fields["gold"]
    return found


def _phrase_set(path: str, texts: TextsBySet, marked: Mapping[str, Mapping[str, str]]) -> PhraseSet:
    name = phrases.name_of(path)
    pages = [page for page in phrases.read(path) if all(page.page_id in of_one for of_one in texts[name].values())]
    scores = {
        extractor: (phrases.score(pages, of_one), phrases.verbatim(pages, of_one))
        for extractor, of_one in texts[name].items()
    }
    scores = dict(sorted(scores.items(), key=lambda one: (-one[1][0].good, -one[1][0].must - one[1][0].must_not)))
    if name in marked:
        # A set has no line for a page without content.
        of_reader = {page.page_id: marked[name].get(page.page_id, "") for page in pages}
        scores = {READER: (phrases.score(pages, of_reader), phrases.verbatim(pages, of_reader)), **scores}
    return PhraseSet(name, len(pages), scores)
