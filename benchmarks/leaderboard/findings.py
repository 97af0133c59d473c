"""The findings of a leaderboard, in sentences: who wins where, by how much, and where the measures disagree."""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.leaderboard import standings
from benchmarks.leaderboard.evaluations import Evaluation
from benchmarks.leaderboard.results import ARTICLES, READER, WHOLE, PhraseSet, Results
from benchmarks.leaderboard.standings import Standing
from dbce_spark.evaluation.extracting.joint_extractors import is_ours
from dbce_spark.evaluation.reporting.score_tables import number
from dbce_spark.evaluation.scoring import bootstrap
from dbce_spark.evaluation.scoring.bootstrap import MeanDifference
from dbce_spark.evaluation.scoring.rank_correlation import rank_correlation

OURS = {WHOLE: "dbce", ARTICLES: "dbce-article"}
"""The method of ours that follows the convention of those sets."""

_PAGES = {WHOLE: "pages that readers labelled whole", ARTICLES: "pages by the gold of sets of articles"}

TITLES = {WHOLE: "Whole pages", ARTICLES: "Articles"}
"""The parts, as headings and sentences name them."""

_KINDS: Mapping[str, Callable[[Evaluation], Mapping[str, Standing]]] = {
    "set": standings.by_set,
    "type": standings.by_type,
    "complexity": standings.by_complexity,
    "language": standings.by_language,
    "cluster": standings.by_cluster,
}
_ASKED = {WHOLE: tuple(_KINDS), ARTICLES: ("set", "complexity", "language", "cluster")}
"""Kinds by which the pages of each part are told apart in sentences."""

_AHEAD, _BEHIND, _CLOSE = "ahead of", "behind", ""

_RANKED = 3
"""Extractors from which on two orders of them are compared."""


def _is_of_others(extractor: str) -> bool:
    """Test whether neither an extractor nor, of an ensemble, one of the members added by `+` is a method of ours."""
    return not any(map(is_ours, extractor.split("+")))


def paragraphs(results: Results) -> Iterator[str]:
    """Iterate over what is found, a paragraph a question; one that these results do not answer is empty."""
    for part, evaluation in results.evaluated.items():
        yield " ".join(_winners(part, evaluation))
    if by_kind := [one for part, evaluation in results.evaluated.items() for one in _by_kind(part, evaluation)]:
        yield from by_kind
        yield (
            "*Ahead* and *behind* are said where the 95 % interval of the paired difference leaves out 0, with at least"
            f" {bootstrap.MIN_UNITS} sites, or pages where they are drawn. The best of others is chosen by the same"
            " pages, and no interval is widened for the number of them."
        )
    if {WHOLE, ARTICLES} <= set(results.evaluated):
        yield " ".join(_disagreement(results.evaluated[ARTICLES], results.evaluated[WHOLE]))
    yield from map(_by_phrases, results.phrases)


def _winners(part: str, evaluation: Evaluation) -> Iterator[str]:
    standing, names, ours = standings.overall(evaluation), evaluation.extractors, OURS[part]
    f1 = dict(zip(names, standing.f1.tolist(), strict=True))
    ranked = sorted(names, key=lambda name: -f1[name])
    others = [name for name in ranked if _is_of_others(name)]
    yield f"**On {standing.pages:,} {_PAGES[part]}** {ranked[0]} is first with F1 {number(f1[ranked[0]])}."

    def less(what: str, other: str) -> str:
        found = standings.difference(evaluation, standing, ours, other)
        mean, low, high = found.mean, found.low, found.high
        return (
            f"{ours} ({number(f1[ours])}) less {what}, {other} ({number(f1[other])}), is {mean:+.3f} ({low:+.3f} to"
            f" {high:+.3f})."
        )

    if ours in f1 and others:
        yield less("the best of others", others[0])
        if combined := [name for name in ranked if not is_ours(name) and not _is_of_others(name)]:
            yield less("the best ensemble that it is a member of", combined[0])
        seconds = dict(zip(names, evaluation.seconds.mean(axis=1).tolist(), strict=True))
        if quicker := [name for name in others if seconds[name] < seconds[ours]]:
            yield f"Of those that take less time than it, {quicker[0]} is best with {number(f1[quicker[0]])}."


def _by_kind(part: str, evaluation: Evaluation) -> Iterator[str]:
    """Say on which kinds of pages our method is ahead of all others, on which it is behind, and on which none can say.

    There it is that the interval of the paired difference holds 0, or that there are too few pages for a test.
    """
    names, ours = evaluation.extractors, OURS[part]
    others = [at for at, name in enumerate(names) if _is_of_others(name)]
    if ours not in names or not others:
        return
    for question in _ASKED[part]:
        kinds = _KINDS[question](evaluation)
        if len(kinds) == 1:  # the sentence on all pages has said it
            continue
        sides: dict[str, list[str]] = {_AHEAD: [], _BEHIND: [], _CLOSE: []}
        for kind, standing in kinds.items():
            best = max(others, key=lambda at: standing.f1[at])
            side = _side(standings.difference(evaluation, standing, ours, names[best]))
            mine = number(standing.f1[names.index(ours)])
            sides[side].append(f"{kind} ({mine}; {names[best]} {number(standing.f1[best])})")
        close = sides.pop(_CLOSE)
        sure = [f"{side} the best of others on {', '.join(some)}" for side, some in sides.items() if some]
        said = [f"{ours} is {', and '.join(sure)}."] if sure else []
        said += [f"Too close to say: {', '.join(close)}."] if close else []
        yield f"**{TITLES[part]} by {question}:** {' '.join(said)}"


def _side(difference: MeanDifference) -> str:
    """Say on which side of 0 a difference is, if its interval leaves out 0 and there are pages enough for a test."""
    if math.isnan(difference.p) or difference.low <= 0 <= difference.high:
        return _CLOSE
    return _AHEAD if difference.mean > 0 else _BEHIND


def _disagreement(articles: Evaluation, whole: Evaluation) -> Iterator[str]:
    """Say how alike the two golds rank the extractors of others, and which of them they do not agree on."""
    names = [name for name in whole.extractors if name in articles.extractors and not is_ours(name)]
    if len(names) < _RANKED:
        return
    means = [standings.overall(one).f1[[one.extractors.index(name) for name in names]] for one in (articles, whole)]
    alike = rank_correlation(np.stack(means, axis=1))[0, 1]
    of_articles, of_whole = map(standings.ranks, means)
    places = [at for at in range(len(names)) if of_whole[at] != of_articles[at]]
    moved = sorted(places, key=lambda at: of_whole[at] - of_articles[at])
    yield (
        f"**Gold of articles and readers of whole pages** rank the {len(names)} extractors of others alike to"
        f" {alike:.2f} (Spearman, 1 for the same order)."
    )
    for at in dict.fromkeys((*moved[:1], *moved[-1:])):
        yield f"{names[at]} is number {of_articles[at]} by articles and number {of_whole[at]} by whole pages."
    both = standings.two_golds(articles, whole)
    if both.pages:
        at_others = [at for at, name in enumerate(both.extractors) if _is_of_others(name)]
        one, other = (max(at_others, key=lambda at: found[at]) for found in (both.by_set, both.by_reader))
        yield (
            f"On the {both.pages:,} pages with both golds the best of others is {both.extractors[one]} by that of the"
            f" sets ({number(both.by_set[one])}; {number(both.by_reader[one])} by readers), {both.extractors[other]}"
            f" by readers ({number(both.by_reader[other])}; {number(both.by_set[other])} by the sets)."
        )


def _by_phrases(of: PhraseSet) -> str:
    names = [name for name in of.scores if name != READER]
    others = [name for name in names if _is_of_others(name)]
    shown = dict.fromkeys((*names[:1], *(name for name in names if name == OURS[WHOLE]), *others[:1]))
    good = [f"{number(of.scores[name][0].good)} are good by {name}" for name in shown]
    if READER in of.scores:
        good.append(f"{number(of.scores[READER][0].good)} by the {READER}, who is the ceiling")
    verbatim = max(names, key=lambda name: of.scores[name][1].f1)
    return (
        f"**Of {of.pages:,} pages of {of.name}, by phrases,** {'; '.join(good)}. By trafilatura's measure {verbatim} is"
        f" first with F1 {number(of.scores[verbatim][1].f1)}."
    )
