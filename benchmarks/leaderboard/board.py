"""The leaderboard as Markdown: every figure of it comes from results."""

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.leaderboard import findings, phrases, standings
from benchmarks.leaderboard.evaluations import Evaluation
from benchmarks.leaderboard.results import ARTICLES, OWN_MEASURES, READER, WHOLE, PhraseSet, Results
from benchmarks.leaderboard.standings import Standing
from dbce_spark.evaluation.reporting.score_tables import against, between, bold, number
from dbce_spark.evaluation.scoring import average_weights, bootstrap, complexity
from dbce_spark.evaluation.scoring.clusters import TAGS
from dbce_spark.evaluation.scoring.score_breakdown import MIN_PAGES
from dbce_spark.files.markdown_table import table
from dbce_spark.log import percent

_WIDTH = 138

_OURS = findings.OURS[WHOLE]
"""The extractor that all others are compared with."""

_CEILING = (
    "The ceiling of whole pages: two readers of the same pages, the second without sight of the first's labels, agree"
    " to a mean F1 of the pages of .994 on content nodes (71 of the pages that were labelled last,"
    " `benchmarks/labels/README.md`), and to .988 and .989 on 42 and 48 of those before. With the nodes of all pages"
    " counted together they agree to .978 on 61 pages of `archives`, and .957 on 45 of `formasaurus`. These are figures"
    " of text nodes, those below of words."
)
"""The agreement of readers, as the card of their labels has it."""

_TAGS = 3
"""Tags that a cluster is described by, the most frequent of it."""


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
        f" of pages where there are fewer than {bootstrap.MIN_SITES} sites. In tables by kinds of pages P and R stand"
        " below F1. The best F1 of a column is bold. `python -m benchmarks leaderboard` writes this page from results.",
        "## Who wins where",
        *findings.paragraphs(results),
        *(_overall(results.evaluated, plot) if results.evaluated else ()),
        *(part for name, one in results.evaluated.items() for part in _by_kind(name, one)),
        *(part for name, one in results.by_own_measure.items() for part in _by_own_measure(name, one)),
        *(_two_golds(articles, whole) if articles and whole else ()),
        *(_gold_errors(articles) if articles else ()),
        *(_edit_distance(results.by_edits) if results.by_edits else ()),
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
    if any(_OURS in one.extractors for one in evaluated.values()):
        yield (
            f"*Less {_OURS}*: F1 less that of `{_OURS}` on the same pages, with its interval; p is two-sided, from the"
            f" same {bootstrap.ROUNDS:,} draws (so 0.001 is the least), and not corrected for the number of extractors."
        )
    if WHOLE in evaluated:
        yield _CEILING
    found = {part: (one, standings.overall(one)) for part, one in evaluated.items()}
    seconds = dict(zip(timed.extractors, timed.seconds.mean(axis=1).tolist(), strict=True))
    cells = {part: _overall_cells(one, standing) for part, (one, standing) in found.items()}
    heads = {part: (f"{part}: F1", "P", "R", *_compared(one)) for part, (one, _) in found.items()}
    rows = (
        (
            name,
            *(cell for part in found for cell in cells[part].get(name, [""] * len(heads[part]))),
            f"{1000 * seconds[name]:,.1f}" if name in seconds else "",
        )
        for name in dict.fromkeys(name for of_part in cells.values() for name in of_part)
    )
    yield table(("extractor", *(head for of_part in heads.values() for head in of_part), "CPU ms"), rows)
    yield f"![F1 and CPU milliseconds a page of all extractors]({plot})"


def _overall_cells(evaluation: Evaluation, standing: Standing) -> dict[str, list[str]]:
    """Make the cells of each extractor on all pages, the best first; those against ours only where it was run."""
    names, best = evaluation.extractors, standing.f1.max()
    less = standings.differences(evaluation, standing, _OURS) if _OURS in names else {}
    return {
        names[at]: [
            _bracketed(standing, at, best),
            number(standing.precision[at]),
            number(standing.recall[at]),
            *(against(less[names[at]] if names[at] != _OURS else None) if less else ()),
        ]
        for at in _order(standing)
    }


def _compared(evaluation: Evaluation) -> tuple[str, ...]:
    return (f"less {_OURS}", "p") if _OURS in evaluation.extractors else ()


def _by_kind(part: str, evaluation: Evaluation) -> Iterator[str]:
    """Show a part by the kinds of its pages, a table each."""
    title, weighed = findings.TITLES[part], "Weights are those of all sets together."
    yield f"## {title}, by set"
    yield "All pages of a set weigh the same."
    yield _f1_table(evaluation, standings.by_set(evaluation))
    if part == WHOLE:
        yield f"## {title}, by type"
        yield weighed
        yield _f1_table(evaluation, standings.by_type(evaluation))
    yield f"## {title}, by complexity"
    yield (
        "Complexity: words of the gold over words of the page; `complex` is the lowest quarter of pages, `easy` the"
        f" highest. {weighed}"
    )
    yield _f1_table(evaluation, standings.by_complexity(evaluation))
    yield f"## {title}, by language"
    yield (
        "As the sets name it, else as it is detected of the gold; languages of fewer than"
        f" {MIN_PAGES} pages are `other`. {weighed}"
    )
    yield _f1_table(evaluation, standings.by_language(evaluation))
    clusters = standings.by_cluster(evaluation)
    yield f"## {title}, by cluster and siblings"
    yield (
        f"Clusters are of pages that are alike by the shares of {len(TAGS)} tags in all of theirs"
        f" ([how](benchmark.md#averages-and-how-sure-they-are)); on average, {_tags(evaluation, clusters)}. Siblings"
        f" are the other URLs of a page's site, or of its site and era, in its set. {weighed}"
    )
    yield _f1_table(evaluation, clusters | standings.by_siblings(evaluation))


def _tags(evaluation: Evaluation, clusters: Mapping[str, Standing]) -> str:
    """Name the most frequent tags of each cluster, with their shares."""
    found = {name: standings.tags(evaluation, standing) for name, standing in clusters.items()}
    return "; ".join(
        f"{name} has {', '.join(f'{percent(share)} {tag}' for tag, share in [*shares.items()][:_TAGS])}"
        for name, shares in found.items()
    )


def _f1_table(evaluation: Evaluation, columns: Mapping[str, Standing]) -> str:
    """Make a table of F1 with intervals, P and R."""
    return _by_columns(evaluation, columns, _stacked)


def _by_columns(evaluation: Evaluation, columns: Mapping[str, Standing], cell: Callable[[Standing, int], str]) -> str:
    """Make a table with a row an extractor, the best first, and a column a kind of pages."""
    rows = (
        [evaluation.extractors[at], *(cell(one, at) for one in columns.values())]
        for at in _order(standings.overall(evaluation))
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


def _edit_distance(evaluation: Evaluation) -> Iterator[str]:
    """Show how near the texts are to the gold by edits, by set and complexity: tables 6.1 to 6.6 of the study."""
    yield "## Articles, by edit distance"
    yield (
        "1 less the edits of words that make the gold of the text, over the words of the longer of the two"
        " (`levenshtein`); the study's tables have it beside P and R, by set and complexity."
    )
    overall = {"all": standings.overall(evaluation)}
    columns = overall | standings.by_complexity(evaluation) | standings.by_set(evaluation)
    yield _by_columns(evaluation, columns, lambda one, at: bold(one.f1[at], one.f1.max()))


def _gold_errors(articles: Evaluation) -> Iterator[str]:
    """Show how many pages of each set lack so much of their gold: figure 3.6 of the study, as numbers."""
    yield "## Pages by their gold error"
    yield (
        "The share of a gold text's distinct words that the page has too few of ([gold"
        " error](benchmark.md#averages-and-how-sure-they-are)): pages of each set, as in figure 3.6 of the study, which"
        f" leaves out those above {percent(complexity.MAX_GOLD_ERROR)}."
    )
    by_set: dict[str, list[float]] = defaultdict(list)
    for page in articles.pages:
        by_set[page.dataset].append(page.gold_error)
    counted = {name: complexity.error_counts(errors) for name, errors in by_set.items()}
    bounds = [bound for bound, _ in complexity.error_counts([])]
    yield table(("set", *bounds), ([name, *(f"{count:,}" for _, count in of_set)] for name, of_set in counted.items()))


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
    runs = [(f"{at}", part, one) for at, (part, one) in enumerate(results.described, start=1)]
    head = ("run", "part", "date", "folds", "command")
    yield table(head, ((at, part, *_described(one)) for at, part, one in runs))
    yield (
        "The pages of each set in these runs, with the digest of their ids, HTML and gold: runs with the same digest"
        " had the same pages."
    )
    yield table(("part", "set", "pages", "digest", "runs"), _sets(runs))
    yield "`make benchmark` gives all such results and writes this page:"
    samples = [one["sample"] for part, one in results.described if part == ARTICLES and one["sample"]]
    yield (
        '```sh\nmake benchmark PAGES="GOLD/*.jsonl.xz" READ="READ/*.jsonl.xz" PHRASES="PHRASES/*.jsonl.xz" FOLDS=folds'
        f"{''.join(f' PEER_PAGES={sample}' for sample in samples[:1])}\n```"
    )
    if results.versions:
        yield f"Versions: {', '.join(f'{name} of {package}' for name, package in sorted(results.versions.items()))}."


def _sets(runs: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[tuple[str, ...]]:
    """Iterate over the sets of runs: part, name, pages, digest, and the numbers of the runs that had these pages."""
    found: dict[tuple[str, str], dict[tuple[int, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, part, one in runs:
        for name, pages in one["pages"].items():
            found[part, name][pages, one["digests"][name]].append(at)
    for (part, name), versions in found.items():
        for (pages, digest), numbers in versions.items():
            yield part, name, f"{pages:,}", digest, ", ".join(numbers)


def _described(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the date of an evaluation, the digest of its folds, and the command that gives it again."""
    yield evaluation["date"]
    yield evaluation["folds"]
    folds = "folds" if evaluation["folds"] else None
    options = {"limit": evaluation["limit"], "sample-size": evaluation["sample"], "folds": folds}
    given = [f"--{name} {value}" for name, value in options.items() if value]
    given += [f"--set {setting}" for setting in evaluation.get("settings", ())]  # results of before have none
    words = ["dbce evaluate", *evaluation["files"], "--extractors", ",".join(evaluation["extractors"]), *given]
    yield f"`{' '.join(words)}`"


def _order(standing: Standing) -> Sequence[int]:
    """Return the places of extractors, the best first."""
    found: list[int] = np.argsort(-standing.f1, kind="stable").tolist()
    return found


def _stacked(standing: Standing, at: int) -> str:
    precision, recall = number(standing.precision[at]), number(standing.recall[at])
    return f"{_bracketed(standing, at, standing.f1.max())}<br>P {precision}, R {recall}"


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
