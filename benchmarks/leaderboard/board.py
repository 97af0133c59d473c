"""The leaderboard as Markdown: every figure of it comes from results."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.leaderboard import findings, phrases, standings
from benchmarks.leaderboard.evaluations import Evaluation
from benchmarks.leaderboard.results import ARTICLES, OWN_MEASURES, READER, WHOLE, PhraseSet, Results
from benchmarks.leaderboard.standings import Standing
from dbce_spark.evaluation.reporting.score_tables import between, bold, number, percent
from dbce_spark.evaluation.scoring import average_weights, bootstrap
from dbce_spark.files.markdown_table import table

_WIDTH = 138


def text(results: Results, plot: str) -> str:
    """Write the leaderboard; `plot` is the name of the file with its plot."""
    whole, articles = results.evaluated.get(WHOLE), results.evaluated.get(ARTICLES)
    parts = [
        "# Leaderboard",
        "What extractors of main content reach on pages of sites that they were not trained on. [The"
        " benchmark](benchmark.md) says what each extractor is, how texts are compared, and how to add an extractor."
        " *Readers* are a large language model that follows a written guide ([the"
        " sets](sets.md#sets-that-readers-labelled-whole)); `dbce` learned from their labels of other sites, which"
        " other extractors have not seen ([what that"
        " means](benchmark.md#pages-that-the-classifier-was-trained-on)). F1, P and R are by ROUGE-L, line by line"
        " (`rouge_lsum`); a page that an extractor fails on has 0. Brackets are 95 % intervals from draws of sites, or"
        f" of pages where there are fewer than {bootstrap.MIN_SITES} sites. The best of a column is bold. `python -m"
        " benchmarks leaderboard` writes this page from results.",
        "## Who wins where",
        *findings.paragraphs(results),
        *(_overall(results.evaluated, plot) if results.evaluated else ()),
        *(_by_set("Whole pages, by set", whole) if whole else ()),
        *(_by_kind(whole) if whole else ()),
        *(_by_set("Articles, by set", articles) if articles else ()),
        *(part for name, one in results.by_own_measure.items() for part in _by_own_measure(name, one)),
        *(_two_golds(articles, whole) if articles and whole else ()),
        *(part for phrase_set in results.phrases for part in _by_phrases(phrase_set)),
        *_how(results),
    ]
    return "\n\n".join(_wrapped(part) for part in parts if part) + "\n"


def _overall(evaluated: Mapping[str, Evaluation], plot: str) -> Iterator[str]:
    timed = next(iter(evaluated.values()))
    yield "## All sets together"
    yield (
        "*Whole*: pages of every type, labelled whole by readers. *Articles*: sets with gold of their own, about half"
        f" of it of news and blogs. Pages of one site weigh at most {percent(average_weights.MAX_SHARE)} together."
        " `dbce` keeps all content, `dbce-article` what sets of articles take for it; the other methods of ours that"
        " begin with dbce are `dbce` with less or other evidence. CPU: milliseconds a page, on the"
        f" {len(timed.pages):,} pages of the first columns; that of an ensemble is its members' too."
    )
    found = {part: (one, standings.overall(one)) for part, one in evaluated.items()}
    seconds = dict(zip(timed.extractors, timed.seconds.mean(axis=1).tolist(), strict=True))
    best = {part: standing.f1.max() for part, (_, standing) in found.items()}
    rows = []
    for name in dict.fromkeys(name for one, standing in found.values() for name in _ranked(one, standing)):
        row = [name]
        for part, (one, standing) in found.items():
            at = one.extractors.index(name) if name in one.extractors else None
            row += ["", "", ""] if at is None else _all_three(standing, at, best[part])
        rows.append([*row, f"{1000 * seconds[name]:,.1f}" if name in seconds else ""])
    yield table(("extractor", *(head for part in found for head in (f"{part}: F1", "P", "R")), "CPU ms"), rows)
    yield f"![F1 and CPU milliseconds a page of all extractors]({plot})"


def _by_set(title: str, evaluation: Evaluation) -> Iterator[str]:
    yield f"## {title}"
    yield "F1. All pages of a set weigh the same."
    yield _f1_table(evaluation, standings.by_set(evaluation))


def _by_kind(whole: Evaluation) -> Iterator[str]:
    yield "## Whole pages, by type"
    yield "F1. Weights are those of all sets together."
    yield _f1_table(whole, standings.by_type(whole))
    yield "## Whole pages, by complexity"
    yield (
        "F1. Complexity: words of the gold over words of the page; `complex` is the lowest quarter of pages, `easy` the"
        " highest. Weights are those of all sets together."
    )
    yield _f1_table(whole, standings.by_complexity(whole))


def _f1_table(evaluation: Evaluation, columns: Mapping[str, Standing]) -> str:
    """Make a table of F1 with intervals: a row an extractor, a column a kind of pages."""
    order = np.argsort(-standings.overall(evaluation).f1, kind="stable")
    rows = (
        [evaluation.extractors[at], *(_bracketed(one, at, one.f1.max()) for one in columns.values())] for at in order
    )
    return table(("extractor", *(f"{name} ({one.pages:,})" for name, one in columns.items())), rows)


def _by_own_measure(name: str, evaluation: Evaluation) -> Iterator[str]:
    """Show a set by the measure that those who made it use, by its types of pages."""
    measure = OWN_MEASURES[name]
    yield f"## {name} by its own measure"
    yield f"F1 by `{measure.metric}`, all pages alike. {measure.published}"
    whole = {"all": standings.of_all_alike(evaluation)}
    yield _f1_table(evaluation, whole | standings.by_type(evaluation))


def _two_golds(articles: Evaluation, whole: Evaluation) -> Iterator[str]:
    both = standings.two_golds(articles, whole)
    if not both.pages:
        return
    yield "## The same pages by two golds"
    yield (
        f"{both.pages:,} pages have the gold of their set, and have been labelled whole by a reader: F1 by each, all"
        " pages alike, and the place that it gives."
    )
    of_set, of_reader = standings.ranks(both.by_set), standings.ranks(both.by_reader)
    rows = (
        [
            both.extractors[at],
            bold(both.by_set[at], both.by_set.max()),
            f"{of_set[at]}",
            bold(both.by_reader[at], both.by_reader.max()),
            f"{of_reader[at]}",
        ]
        for at in np.argsort(-both.by_reader, kind="stable")
    )
    yield table(("extractor", "by the set", "place", "by a reader", "place"), rows)


def _by_phrases(of: PhraseSet) -> Iterator[str]:
    yield f"## Phrases of {of.name}"
    yield (
        f"{of.pages:,} pages: the share of the content's phrases that are kept (`must`), and of the others that are"
        f" left out (`must not`); pages with {percent(phrases.GOOD)} of each (`good`); lists of cells that belong"
        " together, kept whole (`rows`) or in part (`torn`). P, R, F1 and accuracy are the measure of trafilatura's own"
        " evaluation: all phrases counted together, letter by letter."
    )
    rows = (
        [
            name,
            *map(number, (held.must, held.must_not, held.good, held.whole, held.torn)),
            *map(number, (verbatim.precision, verbatim.recall, verbatim.f1, verbatim.accuracy)),
        ]
        for name, (held, verbatim) in of.scores.items()
    )
    yield table(("extractor", "must", "must not", "good", "rows", "torn", "P", "R", "F1", "accuracy"), rows)
    if READER in of.scores:
        yield f"The {READER} marked the content of these pages without seeing the phrases."


def _how(results: Results) -> Iterator[str]:
    yield "## How it was made"
    yield (
        "With `--folds` each site is labelled by a classifier that has not seen it; folds are named by the SHA-256 of"
        " the list of sites and its classifiers. A sample is chosen by a hash of the pages' ids. Where extractors"
        " were given different pages, they are compared on those that all have; a method of ours may see the others"
        " beside them, as in an archive."
    )
    yield table(("part", "date", "folds", "command"), ([part, *_described(one)] for part, one in results.described))
    yield "`make benchmark` gives all such results and writes this page:"
    samples = [one["sample"] for part, one in results.described if part == ARTICLES and one["sample"]]
    yield (
        '```sh\nmake benchmark PAGES="GOLD/*.jsonl.xz" READ="READ/*.jsonl.xz" PHRASES="PHRASES/*.jsonl.xz" FOLDS=folds'
        f"{''.join(f' PEER_PAGES={sample}' for sample in samples[:1])}\n```"
    )
    if results.versions:
        yield f"Versions: {', '.join(f'{name} of {package}' for name, package in sorted(results.versions.items()))}."


def _described(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the date of an evaluation, the digest of its folds, and the command that gives it again."""
    yield evaluation["date"]
    yield evaluation["folds"]
    folds = "folds" if evaluation["folds"] else None
    options = {"limit": evaluation["limit"], "sample-size": evaluation["sample"], "folds": folds}
    given = [f"--{name} {value}" for name, value in options.items() if value]
    words = ["dbce evaluate", *evaluation["files"], "--extractors", ",".join(evaluation["extractors"]), *given]
    yield f"`{' '.join(words)}`"


def _ranked(evaluation: Evaluation, standing: Standing) -> Sequence[str]:
    return [evaluation.extractors[at] for at in np.argsort(-standing.f1, kind="stable")]


def _all_three(standing: Standing, at: int, best: float) -> list[str]:
    return [_bracketed(standing, at, best), number(standing.precision[at]), number(standing.recall[at])]


def _bracketed(standing: Standing, at: int, best: float) -> str:
    interval = standing.intervals[at]
    return bold(standing.f1[at], best) + (f" ({between(interval)})" if interval.is_known else "")


def _wrapped(part: str) -> str:
    """Break a paragraph into lines; tables and commands stay as they are."""
    return (
        part
        if part.startswith(("|", "#", "```"))
        else textwrap.fill(part, _WIDTH, break_long_words=False, break_on_hyphens=False)
    )
