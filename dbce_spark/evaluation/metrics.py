"""How like the gold text an extractor's text is: the metrics of chapter 4 of the study of extractors, on tokens.

A metric is given the tokens of the gold (`target`) and of the extractor (`prediction`). Where both are empty, nothing
was to be found and nothing was: 1. Where only one is, 0.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq
from rapidfuzz.distance import Levenshtein as Edits

from dbce_spark.tokens import tokens

GRAM = 4
"""Words of a gram, as in the benchmark of article extraction that the study compares with."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Score:
    """Each from 0 to 1. A metric that knows one value only says it three times."""

    precision: float
    recall: float
    f1: float


Metric = Callable[[Sequence[str], Sequence[str]], Score]


def words(text: str) -> list[str]:
    """The tokens that metrics compare: alphanumeric words in lower case, characters where a script has no spaces.

    After NFKC, so that ligatures and full-width letters are no errors, without soft hyphens and their likes. The study
    says "alphanumeric word" and no more; its example tells "A" from "a", which headings in capitals speak against.
    """
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).lower())
    return tokens(_NO_WORD.sub(" ", folded))


def levenshtein(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """1 - edits / tokens of the longer text. The study tells the distance; here more is better everywhere."""
    longer = max(len(target), len(prediction))
    return _same(1 - Edits.distance(*_numbered(target, prediction)) / longer if longer else 1.0)


def jaccard(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Words in both over words in either (equation 4.1)."""
    either = set(target) | set(prediction)
    return _same(len(set(target) & set(prediction)) / len(either) if either else 1.0)


def bag_of_words(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """Words in both, each as often as in the text that has fewer of it.

    Equations 4.2-4.4 take sets; their F1 would be 2J / (1 + J) of `jaccard`, and so tell nothing that it does not.
    """
    return _overlap(Counter(target), Counter(prediction))


def four_gram(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """The same of runs of four words. A text of fewer words is one run."""
    return _overlap(_grams(target), _grams(prediction))


def rouge_l(target: Sequence[str], prediction: Sequence[str]) -> Score:
    """The longest common subsequence of the whole texts over the tokens of each.

    This is what the study defines as RougeLSum; the library of that name cuts texts into lines first, so that a line
    may be found anywhere.
    """
    common = LCSseq.similarity(*_numbered(target, prediction))
    return _of_counts(common, len(target), len(prediction))


METRICS: Mapping[str, Metric] = {
    "levenshtein": levenshtein,
    "jaccard": jaccard,
    "bag_of_words": bag_of_words,
    "four_gram": four_gram,
    "rouge_l": rouge_l,
}


def _of_counts(common: int, target: int, prediction: int) -> Score:
    if not target and not prediction:
        return _same(1.0)
    if not common:
        return _same(0.0)
    return Score(common / prediction, common / target, 2 * common / (target + prediction))


def _overlap(target: Counter[Hashable], prediction: Counter[Hashable]) -> Score:
    return _of_counts((target & prediction).total(), target.total(), prediction.total())


def _same(value: float) -> Score:
    return Score(value, value, value)


def _grams(of: Sequence[str]) -> Counter[Hashable]:
    starts = range(max(1, len(of) - GRAM + 1) if of else 0)
    return Counter(tuple(of[start : start + GRAM]) for start in starts)


def _numbered(target: Sequence[str], prediction: Sequence[str]) -> tuple[list[int], list[int]]:
    """Numbers for tokens: rapidfuzz would compare the hashes of words, which differ from process to process."""
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(token, len(numbers)) for token in some] for some in (target, prediction))
    return first, second
