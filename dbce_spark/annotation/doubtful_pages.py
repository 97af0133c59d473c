"""Choose the pages of an output whose labels would teach most: of the templates that the classifier doubts most."""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from dbce_spark.dbce.classifier import site_corrections
from dbce_spark.dbce.classifier.site_corrections import LabelledPage, SiteCorrections
from dbce_spark.errors import InputError
from dbce_spark.files.sources import MEMBER
from dbce_spark.model import Keys, Page
from dbce_spark.output.collection import DUPLICATES, EXTRACTIONS
from dbce_spark.output.output_reader import Output

_ROWS = 1 << 14
_COLUMNS = ("capture_id", "site", "template_id", "url", "confidence", "text_words")
Template = tuple[str, str]
"""A site, and the id of one of its templates; a page without siblings is a template of its own, by its capture id, with
the copies of it."""

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulPage:
    """A page that was chosen of its template, and figures of the template."""

    capture_id: str
    site: str
    url: str
    pages: int  # of the template
    doubt: float  # the sum of 1 - confidence over these: so many are wrong, if each is right or wrong as a whole


@dataclass(frozen=True, slots=True)
class LabelledOutput:
    """An output, and another one that labelled some of its sites again: their rows there count."""

    output: Output
    adapted: Output | None = None
    adapted_sites: frozenset[str] = frozenset()

    def rows(self) -> Iterator[_Row]:
        """Iterate over the columns of _COLUMNS of all extractions that have a confidence."""
        for row in _rows(self.output):
            if row["site"] not in self.adapted_sites:
                yield row
        if self.adapted:
            yield from _rows(self.adapted)


def choose(labelled: LabelledOutput, taken: Collection[str], count: int, *, most_words: int) -> list[DoubtfulPage]:
    """Choose `count` pages: one of each of the templates that are doubted most, then a second one of each, and so on. A
    template of which captures are `taken` already is doubted that many times less.

    The doubt of a template often lies on a few of its pages, far from the mean of all. So its pages are put in order of
    their doubt, and of n to choose those are taken at which 1/2n, 3/2n and so on of it are passed. Pages whose main
    text has more than `most_words` words, which take long to label, and copies of others are not chosen: a page has
    the doubt of its copies too.

    Raises:
        InputError: no extraction has a confidence, since bit patterns labelled them.
    """
    candidates = partial(_candidates, labelled, _leaders(labelled.output), taken, most_words)  # read three times
    pages, open_pages, taken_of = Counter[Template](), Counter[Template](), Counter[Template]()
    doubts: dict[Template, float] = defaultdict(float)
    of_copies: dict[str, float] = defaultdict(float)
    for one in candidates():
        pages[one.template] += 1
        doubts[one.template] += one.doubt
        taken_of[one.template] += one.is_taken
        open_pages[one.template] += one.is_open
        if one.leader:
            of_copies[one.leader] += one.doubt
    if not pages:
        raise InputError(f"{labelled.output.root}: no page has a confidence; extract it with --set label.by=classifier")
    doubtful = [template for template in open_pages if open_pages[template] and doubts[template] > 0]
    order = sorted(doubtful, key=lambda template: (-doubts[template] / (1 + taken_of[template]), template))[:count]
    turns = [template for turn in range(count) for template in order if turn < open_pages[template]][:count]
    found = _of_templates(Counter(turns), lambda: (one for one in candidates() if one.is_open), of_copies)
    chosen = [found[template].pop(0) for template in turns]
    return [
        DoubtfulPage(
            capture_id=one.capture_id,
            site=one.template[0],
            url=one.url,
            pages=pages[one.template],
            doubt=round(doubts[one.template], 3),
        )
        for one in chosen
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A page of the output. One that `is_open` may be chosen."""

    template: Template
    capture_id: str
    url: str
    doubt: float
    leader: str  # what it is a copy of; "": of none
    is_taken: bool
    is_open: bool


def _candidates(
    labelled: LabelledOutput, leaders: Mapping[tuple[str, str], str], taken: Collection[str], most_words: int
) -> Iterator[_Candidate]:
    for row in labelled.rows():
        site, capture_id = row["site"], row["capture_id"]
        leader, is_taken = leaders.get((site, capture_id), ""), capture_id in taken
        yield _Candidate(
            template=(site, row["template_id"] or leader or capture_id),
            capture_id=capture_id,
            url=row["url"],
            doubt=1 - row["confidence"],
            leader=leader,
            is_taken=is_taken,
            is_open=not is_taken and not leader and row["text_words"] <= most_words,
        )


def _leaders(output: Output) -> dict[tuple[str, str], str]:
    """Map site and id of each capture whose main text another capture of its site has too, or nearly, to that one."""
    copies: dict[str, str] = {}
    for batch in output.batches(DUPLICATES, ["capture_id", "duplicate_of"], rows=_ROWS):
        rows = zip(*(batch.column(name).to_pylist() for name in ("capture_id", "duplicate_of")), strict=True)
        copies |= {capture_id: leader for capture_id, leader in rows if leader}
    if not copies:
        return {}
    named = copies.keys() | copies.values()
    site_of: dict[str, str] = {}
    for batch in output.batches(EXTRACTIONS, ["capture_id", "site"], rows=_ROWS):
        of_all = zip(*(batch.column(name).to_pylist() for name in ("capture_id", "site")), strict=True)
        site_of |= {capture_id: site for capture_id, site in of_all if capture_id in named}
    return {
        (site_of[capture_id], capture_id): leader
        for capture_id, leader in copies.items()
        if capture_id in site_of and site_of[capture_id] == site_of.get(leader)
    }


def _at_equal_shares(doubts: Sequence[float], weights: Sequence[float], count: int) -> list[float]:
    """Return the doubts of `count` pages, descending: those at which 1/2n, 3/2n and so on of all weight are passed."""
    order = sorted(range(len(doubts)), key=lambda at: (-doubts[at], -weights[at]))
    ordered = [doubts[at] for at in order]
    passed = [*accumulate(weights[at] for at in order)]
    places: list[int] = []
    for at in range(count):
        share = passed[-1] * (2 * at + 1) / (2 * count)
        place = bisect_left(passed, share)
        # Each page once, and as many left as are still to be chosen.
        places.append(min(max(place, places[-1] + 1 if places else 0), len(ordered) - count + at))
    return [ordered[place] for place in places]


def _of_templates(
    numbers: Mapping[Template, int], candidates: Callable[[], Iterable[_Candidate]], of_copies: Mapping[str, float]
) -> dict[Template, list[_Candidate]]:
    """Choose so many pages of each template, in order of their doubt; of equal ones those of lowest id."""
    doubts: dict[Template, array[float]] = {template: array("d") for template in numbers}
    weights: dict[Template, array[float]] = {template: array("d") for template in numbers}
    for one in candidates():  # once for two numbers of each page, so that of a template no more is held
        if one.template in doubts:
            doubts[one.template].append(one.doubt)
            weights[one.template].append(one.doubt + of_copies.get(one.capture_id, 0.0))
    wanted = {one: Counter(_at_equal_shares(doubts[one], weights[one], number)) for one, number in numbers.items()}
    found: dict[tuple[Template, float], list[_Candidate]] = defaultdict(list)
    for one in candidates():
        if one.template in wanted and (number := wanted[one.template][one.doubt]):
            with_it = sorted([*found[one.template, one.doubt], one], key=lambda page: page.capture_id)
            found[one.template, one.doubt] = with_it[:number]
    return {
        template: [page for doubt in sorted(counts, reverse=True) for page in found[template, doubt]]
        for template, counts in wanted.items()
    }


def count_reached(labelled: LabelledOutput, chosen: Sequence[DoubtfulPage], pages: Iterable[Page]) -> list[int]:
    """Count for each chosen page the others of the output that its labels, and no others, would correct.

    They may be fewer than its template has: a template is one of tags, and a slot has classes too; or more: pages of
    other templates can have the same slots. `pages` are those of the archives of its site.
    """
    sites = {one.site for one in chosen}
    ids = {row["capture_id"] for row in labelled.rows() if row["site"] in sites}
    keys_of: dict[str, dict[str, Keys]] = defaultdict(dict)
    for page in pages:
        if page.features and page.capture_id in ids:
            keys_of[page.capture.site][page.capture_id] = page.features.keys
    return [_reached(one, keys_of[one.site]) for one in chosen]


def _reached(one: DoubtfulPage, keys_of: Mapping[str, Keys]) -> int:
    """Count the other pages that labels of a page would correct; all are of its site."""
    taught = _taught(one.site, keys_of[one.capture_id])
    return sum(taught.reach(one.site, keys) for capture_id, keys in keys_of.items() if capture_id != one.capture_id)


def _taught(site: str, keys: Keys) -> SiteCorrections:
    """Learn from a page of which all is labelled; which labels, and how likely, is nothing to whom they reach."""
    blocks = keys.shape[1]
    nothing, everything = np.zeros(blocks, np.bool_), np.ones(blocks, np.bool_)
    page = LabelledPage(site=site, keys=keys, log_odds=np.zeros(blocks), is_content=nothing, is_labelled=everything)
    return site_corrections.learn([page])


def archives(output: Output, sites: Collection[str]) -> list[str]:
    """List the archive files in which captures of some sites lie."""
    found: set[str] = set()
    for batch in output.batches(EXTRACTIONS, ["site", "warc_file"], rows=_ROWS):
        of_sites = zip(*(batch.column(name).to_pylist() for name in ("site", "warc_file")), strict=True)
        found.update(file.partition(MEMBER)[0] for site, file in of_sites if site in sites)
    return sorted(found)


def _rows(output: Output) -> Iterable[_Row]:
    for batch in output.batches(EXTRACTIONS, _COLUMNS, rows=_ROWS):
        yield from (row for row in batch.to_pylist() if row["confidence"] is not None)
