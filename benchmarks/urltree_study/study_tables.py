"""The tables of the study, in Markdown."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.samples.drawn_page import CONTENT
from benchmarks.urltree_study.stream_runs import (
    Kept,
    Values,
    alike_keys,
    exact_keys,
    f1,
    label,
    left_out,
)
from benchmarks.urltree_study.studied_documents import StudiedDocument, by_stream
from dbce_spark.evaluation.scoring import bootstrap, stream_course
from dbce_spark.evaluation.scoring.metrics import rouge_l, words
from dbce_spark.evaluation.training.training_examples import held
from dbce_spark.files import markdown_table
from dbce_spark.log import counted

NUMBERS = (10, 20, 50, 100, 200, 300, 500, 700, 1_000)
"""N of strict-support-N and relaxed-at-domain-N. The paper took 100 to 1,000, ours of short domains begin below."""
LONG, LEAST_OF_LONG = 1_000, 100
"""Documents of a domain beyond which it is long, and the least of NUMBERS that is tried there: the paper's."""
DOCUMENTS = (10, 30, 100, 300, 1_000, 3_000)
DAYS = (1, 3, 7, 14, 28)
"""Windows, by the most documents or by age."""
BITS = (0, 1, 3, 5, 8, 10, 12, 14, 16)
"""Bits that the similarity hashes of two blocks may differ in."""
LEAST = 38
"""Documents of a domain from which on it has a row of its own."""
KIND_BITS = (3, 8)
"""Bits of similarity hashes that have rows of their own beside the kinds of boilerplate."""
FIRSTS, FIRSTS_OF_LONG = (1, 2, 5, 10, 20, 50, 100), (1, 11, 101, 501, 1_001, 3_001)
"""First documents of the stretches of a stream that have columns of their own; those of a long one."""

Peers = Callable[[Sequence[StudiedDocument]], Mapping[str, Sequence[str]]]
"""Gives the texts of some documents by other extractors, by the names of these."""

STRICT, AT_DOMAIN, AT_DOMAIN_NODE = "strict", "strict-at-domain", "relaxed-at-domain-node"
_ALL_DAYS = "window.max_age_days=100000"


def _support(number: int) -> tuple[str, ...]:
    return "label.heuristic=strict-support", f"label.support={number}"


def _relaxed(number: int, heuristic: str = "relaxed-at-domain") -> tuple[str, ...]:
    return f"label.heuristic={heuristic}", f"label.relaxed_above={number}"


HEURISTICS: Mapping[str, tuple[str, ...]] = {
    STRICT: ("label.heuristic=strict",),
    AT_DOMAIN: ("label.heuristic=strict-at-domain",),
    "strict-support-100": _support(100),
    "relaxed-at-domain-500": _relaxed(500),
    "relaxed-at-domain-node-500": _relaxed(500, AT_DOMAIN_NODE),
}
"""The heuristics, with the paper's numbers."""


def shared(domains: Mapping[str, Sequence[StudiedDocument]]) -> str:
    """Show how many documents of their domain hold the blocks of content and of boilerplate, in shares of words."""
    rows = []
    for name, documents in domains.items():
        if len(documents) >= LEAST:
            of_content, of_others = _holders(documents)
            rows.append([name, f"{len(documents):,}", *_shares(of_content), *_shares(of_others)])
    groups = [f"{what} of {holders}" for what in ("content", "boilerplate") for holders in ("1", "2", "3+")]
    return markdown_table.table(["domain", "documents", *groups], rows)


def heuristics(documents: Sequence[StudiedDocument], peers: Peers) -> str:
    """Compare the heuristics, with all numbers N that a domain goes beyond, and other extractors. All documents stay in
    the window, as in the paper's experiments: in one of days few nodes would go beyond N."""
    keys, longest = exact_keys(documents), _longest(documents)
    numbers = [one for one in NUMBERS if one < longest and (longest <= LONG or one >= LEAST_OF_LONG)]
    settings = {name: HEURISTICS[name] for name in (STRICT, AT_DOMAIN)}
    settings |= {f"strict-support-{one}": _support(one) for one in numbers}
    settings |= {f"relaxed-at-domain-{one}": _relaxed(one) for one in numbers}
    settings |= {f"relaxed-at-domain-node-{one}": _relaxed(one, AT_DOMAIN_NODE) for one in numbers}
    scores = {
        f"`urltree-{name}`": f1(documents, label(documents, keys, (*one, _ALL_DAYS))) for name, one in settings.items()
    }
    for name, texts in peers(documents).items():
        pairs = zip(documents, texts, strict=True)
        scores[f"`{name}`"] = np.array([rouge_l(words(one.page.gold), words(text)).f1 for one, text in pairs])
    return _by_stretch(documents, scores, FIRSTS if longest <= LONG else FIRSTS_OF_LONG)


def windows(documents: Sequence[StudiedDocument]) -> str:
    """Compare windows, under each of the paper's heuristics."""
    keys, longest = exact_keys(documents), _longest(documents)
    settings: dict[str, tuple[str, ...]] = {"all documents": (_ALL_DAYS,)}
    settings |= {
        f"{most:,} documents": (f"window.max_documents={most}", f"window.min_documents={min(most, 100)}", _ALL_DAYS)
        for most in DOCUMENTS
        if most < longest
    }
    if any(one.page.timestamp for one in documents):
        settings |= {counted(days, "day"): (f"window.max_age_days={days}",) for days in DAYS}
    rows = []
    for name, window in settings.items():
        means = [f1(documents, label(documents, keys, (*of, *window))).mean() for of in HEURISTICS.values()]
        rows.append([name, *(_shown(mean) for mean in means)])
    return markdown_table.table(["window", *(f"`{name}`" for name in HEURISTICS)], rows)


def similarity(documents: Sequence[StudiedDocument]) -> str:
    """Compare keys by the letters of blocks with similarity hashes that may differ in some bits."""
    sites = [one.page.unit for one in documents]
    units, _ = bootstrap.drawn_units(sites)
    found: dict[str, list[Values]] = {STRICT: [], AT_DOMAIN: []}
    for most in BITS:
        keys = alike_keys(documents, most)
        for name, values in found.items():
            values.append(f1(documents, label(documents, keys, HEURISTICS[name])))
    rows = [[counted(most, "bit")] for most in BITS]
    for values in found.values():
        stacked = np.stack(values)
        differences = bootstrap.differences(stacked, np.ones(len(documents)), units)
        for row, mean, apart in zip(rows, stacked.mean(axis=1), differences, strict=True):
            row += [_shown(mean), f"{apart.mean:+.4f} ({apart.low:+.4f} to {apart.high:+.4f})"]
    head = [part for name in found for part in (f"`{name}`", "difference")]
    return markdown_table.table(["hashes differ in at most", *head], rows)


def kinds(documents: Sequence[StudiedDocument], peers: Peers, every: int) -> str:
    """Show what URL Tree and other extractors leave out of each kind of blocks. All are scored on one document of
    `every`; of others than URL Tree only these are extracted."""
    chosen = documents[every - 1 :: every]
    kept = {
        name: [np.where(own, one.sizes, 0) for one, own in zip(chosen, labels, strict=True)]
        for name, labels in _labels(documents, every)
    }
    for name, texts in peers(chosen).items():
        kept[f"`{name}`"] = [_held(one, text) for one, text in zip(chosen, texts, strict=True)]
    shares = {name: left_out(chosen, of) for name, of in kept.items()}
    found = [kind for kind in dict.fromkeys(kind for one in chosen for kind in one.kinds) if kind != CONTENT]
    totals = {kind: _words(chosen, kind) for kind in found}
    shown = [kind for kind in found if totals[kind]]
    rows = [["words", *(f"{totals[kind]:,}" for kind in shown), f"{_words(chosen, CONTENT):,}"]]
    for name, of in shares.items():
        rows.append([name, *(f"{of[kind]:.3f}" for kind in shown), f"{1 - of[CONTENT]:.3f}"])
    return markdown_table.table(["left out of", *shown, "content kept"], rows)


def _holders(documents: Sequence[StudiedDocument]) -> tuple[Counter[int], Counter[int]]:
    """Count words of content, and those of all else, by how many documents hold their block: 1, 2, or 3 and more."""
    keys = [own[:, 0].tolist() for own in exact_keys(documents)]
    holders = Counter(key for own in keys for key in set(own))
    of_content: Counter[int] = Counter()
    of_others: Counter[int] = Counter()
    for one, own in zip(documents, keys, strict=True):
        for key, kind, count in zip(own, one.kinds, one.sizes.tolist(), strict=True):
            (of_content if kind == CONTENT else of_others)[min(holders[key], 3)] += count
    return of_content, of_others


def _shares(counted: Counter[int]) -> list[str]:
    return [f"{counted[holders] / max(counted.total(), 1):.3f}" for holders in (1, 2, 3)]


def _labels(documents: Sequence[StudiedDocument], every: int) -> Iterator[tuple[str, Sequence[Kept]]]:
    """Label all documents by each heuristic, and with similarity hashes; yield the labels of one of `every`."""
    keys = exact_keys(documents)
    for name, settings in HEURISTICS.items():
        yield f"`urltree-{name}`", label(documents, keys, settings)[every - 1 :: every]
    for most in KIND_BITS:
        labels = label(documents, alike_keys(documents, most), HEURISTICS[AT_DOMAIN])
        yield f"`urltree-{AT_DOMAIN}`, hashes within {counted(most, 'bit')}", labels[every - 1 :: every]


def _held(document: StudiedDocument, text: str) -> Values:
    """Count the words of each block that an extractor's text has."""
    texts = [words(document.blocks.text_of(at)) for at in range(len(document.blocks))]
    return held(text, texts).astype(np.float64)


def _words(documents: Sequence[StudiedDocument], kind: str) -> int:
    return sum(
        count for one in documents for name, count in zip(one.kinds, one.sizes.tolist(), strict=True) if name == kind
    )


def _longest(documents: Sequence[StudiedDocument]) -> int:
    return max(map(len, by_stream(documents).values()))


def _by_stretch(documents: Sequence[StudiedDocument], scores: Mapping[str, Values], firsts: Sequence[int]) -> str:
    """Write the mean of each row's scores over stretches of the streams of all domains, from these documents on."""
    nth = stream_course.positions([one.page for one in documents])
    ends = [*firsts[1:], len(documents) + 1]
    found = [(first, end, (nth >= first) & (nth < end)) for first, end in zip(firsts, ends, strict=True)]
    stretches = [one for one in found if one[2].any()]
    head = [f"{first:,}" if end == first + 1 else f"{first:,}-{end - 1:,}" for first, end, _ in stretches[:-1]]
    chosen = [of for _, _, of in stretches]
    rows = [["documents", *(f"{of.sum():,}" for of in chosen), f"{len(documents):,}"]]
    for name, values in scores.items():
        rows.append([name, *(_shown(values[of].mean()) for of in chosen), _shown(values.mean())])
    return markdown_table.table(["", *head, f"{stretches[-1][0]:,}+", "all"], rows)


def _shown(value: float) -> str:
    return f"{value:.4f}"
