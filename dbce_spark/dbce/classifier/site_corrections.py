"""Corrections of a classifier on sites of which people have labelled some pages: shifts of log-odds, by slot and text.

A classifier that is wrong about a slot is so on all pages of its template. So of each slot of labelled pages, and of
each text, it is learned how far the classifier's log-odds lie from the labels. Other pages of the site take the shifts
of the slots and texts that their blocks have, if most of their blocks lie in slots that labelled pages have: a page of
another template stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.forest import probability
from dbce_spark.dbce.key_numbers import MIX
from dbce_spark.model import ID, TEXT, Keys, text_hash

SHIFTED_ROWS = (ID, TEXT)
"""Rows of keys that have shifts: the slot by its classes and ids, then the text, which is learned from what the slot
leaves. Further names of slots gave no more (docs/classifier.md)."""

PRIOR = 0.2
"""The precision of a normal prior around no shift, in labelled pages: two pages that speak against the classifier
decide a slot, as a rule. 0.05 to 0.5 were tried (docs/classifier.md)."""

MOST = 6.0
"""The largest shift of a slot or of a text, in log-odds: a score of 0.0025 becomes one of a half."""

BLOCKS_OF_PAGE = 3
"""Blocks of a slot by which a page counts at most: a table of a hundred rows says little more than one of three."""

KNOWN = 0.7
"""The share of a page's blocks in slots that labelled pages have, from which on the page is corrected."""

_STEPS, _LONGEST = 8, 1.5
"""Steps of Newton's method, and the longest of them in log-odds."""

Names = npt.NDArray[np.uint64]
Shifts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPage:
    """A page that people have labelled, and the log-odds of a classifier. Every column has one entry a block."""

    site: str
    keys: Keys  # as in `BlockFeatures`
    log_odds: Shifts
    is_content: npt.NDArray[np.bool_]
    is_labelled: npt.NDArray[np.bool_]  # a block without a label teaches nothing


@dataclass(frozen=True)
class SiteCorrections:
    """The sites with labelled pages, and shifts by hashes of site, row and key, ascending."""

    sites: frozenset[str] = frozenset()
    names: Names = field(default_factory=lambda: np.empty(0, np.uint64))
    shifts: Shifts = field(default_factory=lambda: np.empty(0))

    def reach(self, site: str, keys: Keys) -> bool:
        """Return whether a page is of a template that labelled pages have, so that it is corrected."""
        return site in self.sites and _is_known_template(self._of_row(site, ID, keys)[0])

    def of_page(self, site: str, keys: Keys) -> Shifts:
        """Sum the shifts of each block of a page: (blocks,) log-odds. Keys are as in `BlockFeatures`."""
        nothing = np.zeros(keys.shape[1])
        if site not in self.sites:
            return nothing
        (is_known, of_slots), (_, of_texts) = (self._of_row(site, row, keys) for row in SHIFTED_ROWS)
        return of_slots + of_texts if _is_known_template(is_known) else nothing

    def _of_row(self, site: str, row: int, keys: Keys) -> tuple[npt.NDArray[np.bool_], Shifts]:
        """Tell which blocks have a key that labelled pages have, and return the shifts of these, 0 of the others."""
        names = _names(site, row, keys)
        at = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        is_known = self.names[at] == names
        return is_known, np.where(is_known, self.shifts[at], 0.0)


def _is_known_template(is_known: npt.NDArray[np.bool_]) -> bool:
    """Test whether so many blocks of a page are in slots that labelled pages have that it is corrected."""
    return bool(is_known.mean() >= KNOWN)


def learn(pages: Sequence[LabelledPage]) -> SiteCorrections:
    """Learn the shifts of all slots and texts of labelled pages. They depend on no order of the pages.

    A shift d is that of the highest posterior: a label is drawn with log-odds s + d, where s has the shifts of the
    row before, and d is normal around 0 with precision PRIOR. A page counts in each slot as the square root of its
    blocks there, BLOCKS_OF_PAGE of them.
    """
    # In one order, as sums of floats depend on it.
    taught = sorted((one for one in pages if one.is_labelled.any()), key=_order)
    if not taught:
        return SiteCorrections()
    is_labelled = np.concatenate([one.is_labelled for one in taught])
    is_content = np.concatenate([one.is_content for one in taught]).astype(np.float64)
    log_odds = np.concatenate([one.log_odds for one in taught])
    page_of = np.repeat(np.arange(len(taught)), [len(one.log_odds) for one in taught])
    learned: list[tuple[Names, Shifts]] = []
    for row in SHIFTED_ROWS:
        names = np.concatenate([_names(one.site, row, one.keys) for one in taught])
        found, group = np.unique(names, return_inverse=True)
        weights = np.zeros(len(group))
        weights[is_labelled] = _weights(group[is_labelled], page_of[is_labelled])
        shifts = _posterior(log_odds, is_content, group, weights)
        log_odds = log_odds + shifts[group]
        learned.append((found, shifts))
    names, shifts = (np.concatenate(parts) for parts in zip(*learned, strict=True))
    order = np.argsort(names)
    return SiteCorrections(frozenset(one.site for one in taught), names[order], shifts[order])


def _order(one: LabelledPage) -> tuple[str | bytes, ...]:
    columns = (one.keys, one.log_odds, one.is_content, one.is_labelled)
    return one.site, *(column.tobytes() for column in columns)


def _names(site: str, row: int, keys: Keys) -> Names:
    """Hash the site, the row and the key of each block to 64 bits."""
    of_site = np.uint64(text_hash(f"{row}/{site}"))
    mixed = keys[row].astype(np.uint64) ^ of_site
    # The finalizer of splitmix64 (Steele, Lea and Flood 2014): keys are 32 bits of hashes, sites and rows the rest.
    for shift, factor in zip((30, 27), MIX, strict=True):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    named: Names = mixed ^ (mixed >> np.uint64(31))
    return named


def _weights(group: npt.NDArray[np.intp], page_of: npt.NDArray[np.intp]) -> Shifts:
    """Weigh each block so that a page counts in a group as the root of its blocks there, BLOCKS_OF_PAGE of them."""
    pairs = group * (int(page_of.max()) + 1) + page_of
    _, pair, blocks = np.unique(pairs, return_inverse=True, return_counts=True)
    of_block = blocks[pair]
    weights: Shifts = np.sqrt(np.minimum(of_block, BLOCKS_OF_PAGE)) / of_block
    return weights


def _posterior(log_odds: Shifts, is_content: Shifts, group: npt.NDArray[np.intp], weights: Shifts) -> Shifts:
    """Find the shift of each group by Newton's method: (groups,)."""
    shifts = np.zeros(int(group.max()) + 1)
    for _ in range(_STEPS):
        likely = probability(log_odds + shifts[group])
        gradient = np.bincount(group, weights * (is_content - likely)) - PRIOR * shifts
        curvature = np.bincount(group, weights * likely * (1 - likely)) + PRIOR
        shifts += np.clip(gradient / curvature, -_LONGEST, _LONGEST)
    return np.clip(shifts, -MOST, MOST)
