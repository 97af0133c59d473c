"""Choose the pages of an output whose labels would teach most: one of each template that the classifier doubts most."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.files.sources import MEMBER
from dbce_spark.output.collection import EXTRACTIONS
from dbce_spark.output.output_reader import Output

_ROWS = 1 << 14
_COLUMNS = ("capture_id", "site", "template_id", "url", "confidence")
Template = tuple[str, str]
"""A site, and the id of one of its templates; "" are all pages that have no siblings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulPage:
    """A page that stands for its template, and what is expected of the template: how many `pages` it has, and how many
    of them would be wrong if each were wrong as a whole (`doubt`, the sum of 1 - confidence)."""

    capture_id: str
    site: str
    url: str
    pages: int
    doubt: float


@dataclass(frozen=True, slots=True)
class LabelledOutput:
    """An output, and another one that labelled some of its sites anew: their rows there count."""

    output: Output
    adapted: Output | None = None
    adapted_sites: frozenset[str] = frozenset()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the columns of _COLUMNS of all extractions that have a confidence."""
        for row in _rows(self.output):
            if row["site"] not in self.adapted_sites:
                yield row
        if self.adapted:
            yield from _rows(self.adapted)


def choose(labelled: LabelledOutput, taken: Collection[str], count: int) -> list[DoubtfulPage]:
    """Choose pages of `count` templates, the most doubtful first; of each the one whose confidence is nearest to the
    mean of its template, as the least confident pages are often unlike the others. A template of which captures are
    `taken` already is doubted that many times less.

    Raises:
        InputError: no extraction has a confidence, since bit patterns labelled them.
    """
    pages: Counter[Template] = Counter()
    doubts: dict[Template, float] = defaultdict(float)
    taken_of: Counter[Template] = Counter()
    for row in labelled.rows():
        template = row["site"], row["template_id"]
        pages[template] += 1
        doubts[template] += 1 - row["confidence"]
        taken_of[template] += row["capture_id"] in taken
    if not pages:
        raise InputError(f"{labelled.output.root}: no page has a confidence; extract it with --set label.by=classifier")
    open_ones = [one for one in pages if taken_of[one] < pages[one] and doubts[one] > 0]
    order = sorted(open_ones, key=lambda one: (-doubts[one] / (1 + taken_of[one]), one))
    nearest: dict[Template, tuple[float, str, str]] = {}
    wanted = {*order[:count]}
    for row in labelled.rows():  # once more, so that no more than a page of each template is held
        template = row["site"], row["template_id"]
        if template in wanted and row["capture_id"] not in taken:
            distance = abs(1 - row["confidence"] - doubts[template] / pages[template])
            found = distance, row["capture_id"], row["url"]
            nearest[template] = min(nearest.get(template, found), found)
    return [
        DoubtfulPage(
            capture_id=nearest[one][1], site=one[0], url=nearest[one][2], pages=pages[one], doubt=round(doubts[one], 3)
        )
        for one in order[:count]
    ]


def archives(output: Output, sites: Collection[str]) -> list[str]:
    """List the archive files in which captures of some sites lie."""
    found: set[str] = set()
    for batch in output.batches(EXTRACTIONS, ["site", "warc_file"], rows=_ROWS):
        of_sites = zip(*(batch.column(name).to_pylist() for name in ("site", "warc_file")), strict=True)
        found.update(file.partition(MEMBER)[0] for site, file in of_sites if site in sites)
    return sorted(found)


def _rows(output: Output) -> Iterable[dict[str, Any]]:
    for batch in output.batches(EXTRACTIONS, _COLUMNS, rows=_ROWS):
        yield from (row for row in batch.to_pylist() if row["confidence"] is not None)
