"""Metrics of how like the gold text an extractor's text is: chapter 4 of the study of extractors, on tokens.

A metric is given the tokens of the gold (`target`) and of the extractor (`prediction`). Where both are empty, nothing
was to be found and nothing was: 1. Where only one is, 0.

"RougeLSum" means two things. The study's formula is the longest common subsequence of the whole texts: `rouge_l`, the
one that extractors are compared by. The library of that name, which the study cites by a description of it, takes the
texts line by line: `rouge_lsum`. It lets a line be found anywhere and its words in many places, so it forgives order,
and words that stand everywhere.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rapidfuzz.distance import LCSseq
from rapidfuzz.distance import Levenshtein as Edits

from dbce_spark.evaluation.scoring.line_alignment import LineIndex
from dbce_spark.html.tokens import tokens

GRAM = 4
"""Words of a gram, as in the benchmark of article extraction that the study compares with."""

MAX_STEPS = 500_000
"""Words of the prediction that also stand in a line of the target, summed over the target's lines that `rouge_lsum`
aligns. A step is about a microsecond; two articles of 2,000 words without a line in common take some 40,000."""

MAX_LINE = 4_000
"""Words of the longest line of the target that `rouge_lsum` aligns: each costs a bit at every step."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1, each from 0 to 1. A metric with one value repeats it three times."""

    precision: float
    recall: float
    f1: float


Metric = Callable[[Sequence[str], Sequence[str]], Score]


def words(text: str) -> list[str]:
    """Split a text into the tokens that metrics compare: alphanumeric words in lower case, characters where a script
    has no spaces.

    After NFKC, so that ligatures and full-width letters are no errors, without soft hyphens and their likes. The study
    defines only "alphanumeric word"; its example keeps "A" apart from "a", which headings in capitals argue against.
    """
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).lower())
    return tokens(_NO_WORD.sub(" ", folded))


def lines(text: str) -> list[list[str]]:
    """Split a text into the tokens of each line that has any."""
    return [found for found in map(words, text.split("\n")) if found]


def levenshtein(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Measure 1 - edits / tokens of the longer text. The study gives the distance; here more is better everywhere."""
    longer = max(len(target), len(prediction))
    return of_value(1 - Edits.distance(*_numbered(target, prediction)) / longer if longer else 1.0)


def jaccard(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Measure words in both over words in either (equation 4.1)."""
    either = set(target) | set(prediction)
    return of_value(len(set(target) & set(prediction)) / len(either) if either else 1.0)


def bag_of_words(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Compare words, each counted as often as in the text that has fewer of it.

    Equations 4.2-4.4 take sets; their F1 would be 2J / (1 + J) of `jaccard`, and so add nothing to it.
    """
    return _overlap(Counter(target), Counter(prediction))


def four_gram(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Compare runs of four words as `bag_of_words` does words. A text of fewer words is one run."""
    return _overlap(_grams(target), _grams(prediction))


def rouge_l(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Measure the longest common subsequence of the whole texts over the tokens of each: the study's formula of
    RougeLSum."""
    common = LCSseq.similarity(*_numbered(target, prediction))
    return of_counts(common, len(target), len(prediction))


def rouge_lsum(target: Sequence[Sequence[str]], prediction: Sequence[Sequence[str]]) -> Score:
    """Measure the union of the longest common subsequences of each target line with every line of the prediction.

    As Lin 2004 (section 3.2) and the library rouge-score have it, ties of an alignment included: a word counts no more
    often than it stands in either text. Swapped texts have other values. Work is bounded by `MAX_STEPS` and
    `MAX_LINE`: texts beyond are taken as one line each, which is `rouge_l`.
    """
    of_target, of_prediction = Counter(chain.from_iterable(target)), Counter(chain.from_iterable(prediction))
    index = LineIndex(prediction)
    loose = [line for line in map(tuple, target) if not index.holds(line)]
    if index.steps(loose) > MAX_STEPS or max(map(len, loose), default=0) > MAX_LINE:
        return rouge_l(list(chain.from_iterable(target)), list(chain.from_iterable(prediction)))
    found = of_target.copy()
    for line, times in Counter(loose).items():
        for at in index.missed(line):
            found[line[at]] -= times
    return of_counts((found & of_prediction).total(), of_target.total(), of_prediction.total())


def of_value(value: float) -> Score:
    """Make a score of a metric that has one value."""
    return Score(value, value, value)


def of_counts(common: int, target: int, prediction: int) -> Score:
    """Score two collections by their sizes, and by the size of their intersection."""
    if not target and not prediction:
        return of_value(1.0)
    if not common:
        return of_value(0.0)
    return Score(common / prediction, common / target, 2 * common / (target + prediction))


METRICS: Mapping[str, Metric] = {
    "levenshtein": levenshtein,
    "jaccard": jaccard,
    "bag_of_words": bag_of_words,
    "four_gram": four_gram,
    "rouge_l": rouge_l,
}
"""Metrics that see a text as one sequence of tokens, by name."""

NAMES = (*METRICS, "rouge_lsum")
"""Names of all metrics, in the order of every table."""


def scores(gold: str, text: str) -> dict[str, Score]:
    """Measure one text by all metrics, by name."""
    target, prediction = lines(gold), lines(text)
    whole = [list(chain.from_iterable(some)) for some in (target, prediction)]
    return {**{name: metric(*whole) for name, metric in METRICS.items()}, "rouge_lsum": rouge_lsum(target, prediction)}


def _overlap(target: Counter[Hashable], prediction: Counter[Hashable]) -> Score:
    return of_counts((target & prediction).total(), target.total(), prediction.total())


def _grams(text: Sequence[str]) -> Counter[Hashable]:
    starts = range(max(1, len(text) - GRAM + 1) if text else 0)
    return Counter(tuple(text[start : start + GRAM]) for start in starts)


def _numbered(target: Sequence[str], prediction: Sequence[str]) -> tuple[list[int], list[int]]:
    """Number tokens: rapidfuzz would compare the hashes of words, which differ from process to process."""
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(token, len(numbers)) for token in some] for some in (target, prediction))
    return first, second
