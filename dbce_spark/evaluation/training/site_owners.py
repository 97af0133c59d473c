"""Sites that belong together, as their pages share texts that hardly any other site has.

They are of one owner, or one page came into two sets from two addresses. A classifier that has seen one of them has
seen the other, so folds keep them together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

MIN_WORDS = 20
"""Words of a long text: two sites hardly write it alike by chance."""

MAX_SITES = 3
"""Sites that have a text; one that more have is of a program that many use, or of a news agency."""

MIN_TEXTS = 2
"""Texts that two sites share before they belong together."""


def find_owners(texts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Name for each site the first, by name, of those that it belongs with. texts: of each site its long ones, each
    behind the site."""
    sites_of = defaultdict(set)
    for site, text in texts:
        sites_of[text].add(site)
    names = sorted(set().union(*sites_of.values()))
    shared = Counter(
        pair for sites in sites_of.values() if len(sites) <= MAX_SITES for pair in combinations(sorted(sites), 2)
    )
    number = {name: at for at, name in enumerate(names)}
    pairs = [(number[one], number[other]) for (one, other), count in shared.items() if count >= MIN_TEXTS]
    ones, others = np.array(pairs, np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(pairs)), (ones, others)), shape=(len(names), len(names)))
    _, group = connected_components(links, directed=False)
    _, firsts = np.unique(group, return_index=True)
    return {name: names[firsts[at]] for name, at in zip(names, group.tolist(), strict=True)}
