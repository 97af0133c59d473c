"""Snapshots in the cross: how many arms it has, and how far away in time they lie (thesis, chapters 5 and 6)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import patterns
from dbce_spark.files.markdown_table import table
from dbce_spark.model import Annotation, Cross, Label, Member, arm_bit
from reproductions.thesis import gold_sample, learned_cases, neighbourhoods, prepared
from reproductions.thesis.gold_sample import Sample
from reproductions.thesis.label_merging import by_evidence
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.outcomes import GoldCapture, Outcome, compared, number, outcome
from reproductions.thesis.phases import Clock
from reproductions.thesis.reclassification import in_context

PATTERNS = ("11000", "11100", "11001", "11010", "11011", "11101", "11110", "11111")
"""The crosses of appendix B, the emptiest first."""

DISTANCES = (1, 2, 3, 4)
"""How many snapshots before and behind the capture those in the cross lie."""

DENSITIES = (0.0, 5.0, 10.0)
"""Words a line that make the neighbours of an undecided node "large enough"; the thesis names no number."""

CRAWL = 86_400_000_000
"""Microseconds within which captures count as of one crawl. Siblings are taken from the capture's own: a page that has
moved meanwhile would be its own sibling under another URL, and all its content would count as the site's."""

_CURS = 3
"""Captures of one URL that an experiment takes, the middle ones of its series."""

_CASES = ("T001", "T005", "T006")
"""T002 gives the same text and the same counts as T001, whose undecided nodes count as boilerplate."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A capture among its siblings, the most similar first, and its snapshots, the nearest first."""

    cur: Member
    siblings: list[Member]
    before: list[Member]
    behind: list[Member]

    def cross(self, distance: int) -> Cross:
        """Make the cross with snapshots `distance` captures away; an arm stays empty where there is none."""
        up, down, *_ = [*self.siblings, None]
        return neighbourhoods.cross(
            self.cur, up=up, down=down, prev=self._at(self.before, distance), next=self._at(self.behind, distance)
        )

    def gaps(self, distance: int) -> list[float]:
        """Measure the days to these snapshots."""
        arms = (self._at(self.before, distance), self._at(self.behind, distance))
        return [abs(arm.timestamp - self.cur.timestamp) / CRAWL for arm in arms if arm]

    @staticmethod
    def _at(snapshots: Sequence[Member], distance: int) -> Member | None:
        return snapshots[distance - 1] if distance <= len(snapshots) else None


def fullness(sample: Sample, config: DbceConfig) -> str:
    """Compare the same captures in crosses with fewer and fewer arms (appendix B)."""
    whole = [place.cross(1) for place in _middles(sample.archive, 1) if len(place.siblings) > 1]
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for pattern in PATTERNS:
        crosses = [neighbourhoods.with_arms(cross, pattern) for cross in whole]
        annotations = prepared.annotations(sample.archive, crosses, config)
        for name in _CASES:
            found[pattern, name] = gold_sample.outcomes(sample, annotations, CASES[name], by_evidence, Clock())
    return compared(("cross", "case"), found)


def distances(sample: Sample, config: DbceConfig) -> str:
    """Compare the same captures with snapshots further and further away, their siblings unchanged."""
    places = _middles(sample.archive, max(DISTANCES))
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for distance in DISTANCES:
        annotations = prepared.annotations(sample.archive, [place.cross(distance) for place in places], config)
        for name in _CASES:
            outcomes = gold_sample.outcomes(sample, annotations, CASES[name], by_evidence, Clock())
            found[str(distance), _median_days(places, distance), name] = outcomes
    return compared(("snapshots apart", "median days", "case"), found)


def context(sample: Sample, config: DbceConfig) -> str:
    """Label undecided nodes by their neighbours ("T007"), beside cases that leave them, sink them or learn them."""
    crosses = [place.cross(1) for place in _middles(sample.archive, 1)]
    annotations = prepared.annotations(sample.archive, crosses, config)
    found: dict[tuple[str, ...], list[Outcome]] = {
        (name,): gold_sample.outcomes(sample, annotations, CASES[name], by_evidence, Clock()) for name in _CASES
    }
    for density in DENSITIES:
        found[(f"T007, {density:.0f} words a line",)] = [
            _in_context(sample.captures[capture_id], of_capture, density)
            for capture_id, of_capture in annotations.items()
        ]
    return compared(("case",), found)


def crawled(archive: prepared.Archive, config: DbceConfig) -> str:
    """Compare snapshots of a real crawl further and further away, without gold: the undecided, content, and kept
    shares."""
    every = _places(archive)
    lines = []
    for distance in DISTANCES:
        places = [place for place in every if max(len(place.before), len(place.behind)) >= distance]
        if places:
            crosses = [place.cross(distance) for place in places]
            annotated = prepared.annotations(archive, crosses, config)
            shares = [_shares(one) for annotations in annotated.values() for one in annotations]
            mean = np.mean(shares, axis=0).tolist()
            lines.append((str(distance), _median_days(places, distance), f"{len(shares):,}", *map(number, mean)))
    return table(("snapshots apart", "median days", "pages", "content", "boilerplate", "undecided", "kept"), lines)


def _shares(annotation: Annotation) -> list[float]:
    """Measure shares of the words: content, boilerplate, undecided, and in all snapshots."""
    bits, both = annotation.per_token(), annotation.cross.bits & (arm_bit("prev") | arm_bit("next"))
    labels = patterns.classify(annotation.cross.bits, bits)
    shares = [float(np.mean(labels == label)) for label in (Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED)]
    return [*shares, float(np.mean((bits & both) == both))]


def _in_context(one: GoldCapture, annotations: Sequence[Annotation], density: float) -> Outcome:
    capture = one.capture
    nodes, labels = learned_cases.merged(
        capture.dom, capture.page.blocks, annotations, CASES["T001"], by_evidence, Clock()
    )
    return outcome(one, nodes, in_context(nodes, labels, min_density=density), labels)


def _places(archive: prepared.Archive) -> list[_Place]:
    """List all captures that have siblings, in order of site, URL and time."""
    found = []
    for members in archive.members_by_site().values():
        for cur in sorted(members, key=lambda member: (member.url_key, member.timestamp, member.capture_id)):
            same_crawl = [other for other in members if abs(other.timestamp - cur.timestamp) < CRAWL]
            if siblings := neighbourhoods.siblings(cur, same_crawl):
                found.append(_Place(cur, siblings, *neighbourhoods.series(cur, members)))
    return found


def _middles(archive: prepared.Archive, reach: int) -> list[_Place]:
    """List the captures with `reach` snapshots on either side, at most `_CURS` a URL."""
    by_url: dict[str, list[_Place]] = defaultdict(list)
    for place in _places(archive):
        if min(len(place.before), len(place.behind)) >= reach:
            by_url[place.cur.url_key].append(place)
    skips = {url: max(0, len(places) - _CURS) // 2 for url, places in by_url.items()}
    return [place for url, places in by_url.items() for place in places[skips[url] : skips[url] + _CURS]]


def _median_days(places: Sequence[_Place], distance: int) -> str:
    gaps = [gap for place in places for gap in place.gaps(distance)]
    return f"{np.median(gaps):,.0f}" if gaps else ""
