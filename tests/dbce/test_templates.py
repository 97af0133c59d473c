"""Comparison of template tokens by the siblings they find, on real pages."""

import json
import lzma
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from dbce_spark.dbce.shingles import TOKENISERS
from dbce_spark.html.page import parse
from tests.support.builders import CONFIG

THRESHOLD = CONFIG.lsh.threshold


def share_with_a_sibling(pages: dict[str, list[bytes]], name: str) -> float:
    """Compute the share of pages that have another page of their group at a Jaccard similarity over the threshold."""
    found = total = 0
    for htmls in pages.values():
        sets = [set(TOKENISERS[name](parse(html, "", CONFIG.page).tree).tolist()) for html in htmls]
        alike = [(a, b) for a, b in combinations(range(len(sets)), 2) if similarity(sets[a], sets[b]) >= THRESHOLD]
        found += len({at for pair in alike for at in pair})
        total += len(sets)
    return found / total


def similarity(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b)


@pytest.mark.data
def test_path_tokens_find_siblings_where_layer_tokens_do_not(shared_data: Path) -> None:
    """On big9 by site and year, tag paths find a sibling for nearly every page, layer tokens for two thirds."""
    groups: dict[str, list[bytes]] = defaultdict(list)
    with lzma.open(shared_data / "gold" / "big9.jsonl.xz", "rt") as lines:
        for page in map(json.loads, lines):
            groups[page["group"]].append(page["html"].encode())

    assert share_with_a_sibling(groups, "path") > 0.95
    assert share_with_a_sibling(groups, "layer") < 0.75
    assert CONFIG.template.tokens == "path"
