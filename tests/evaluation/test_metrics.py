"""Metrics agree with the study's examples, with plain Python and with other people's implementations."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.metrics import METRICS, Score, bag_of_words, four_gram, jaccard, levenshtein, rouge_l, words

TEXTS = st.lists(st.sampled_from("a b c d e f gg hh".split()), max_size=14)
DOG, LION = "A black dog chases a cat".split(), "A lion chases a zebra".split()


def edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Wagner and Fischer's table."""
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, start=1):
        before, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (word != other)))
    return row[-1]


def common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    row = [0] * (len(b) + 1)
    for word in a:
        before, row = row, [0]
        for j, other in enumerate(b, start=1):
            row.append(before[j - 1] + 1 if word == other else max(before[j], row[-1]))
    return row[-1]


def close(score: Score, precision: float, recall: float, f1: float) -> bool:
    pairs = ((score.precision, precision), (score.recall, recall), (score.f1, f1))
    return all(math.isclose(mine, other, abs_tol=1e-12) for mine, other in pairs)


def test_the_examples_of_the_study() -> None:
    """Chapter 4's own texts have its values: edit distance 3/6, Jaccard 3/8, RougeLSum 4/7 and 4/6."""
    bus, road = "The bus is on the highway".split(), "A Red bus is on the road".split()
    assert 1 - 3 / 6 == levenshtein(DOG, LION).f1
    assert 3 / 8 == jaccard(DOG, LION).f1
    assert (4 / 7, 4 / 6) == (rouge_l(bus, road).precision, rouge_l(bus, road).recall)


def test_four_grams_keep_the_order_that_words_lose() -> None:
    """Of "A dog chases a cat for fun" turned round, every word is found and no run of four."""
    dog = "A dog chases a cat for fun".split()
    assert Score(1, 1, 1) == bag_of_words(dog, dog[::-1])
    assert Score(0, 0, 0) == four_gram(dog, dog[::-1])
    assert Score(1.0, 0.75, 6 / 7) == four_gram(dog, dog[:-1])


@pytest.mark.parametrize("name", METRICS)
def test_empty_texts(name: str) -> None:
    """Nothing where nothing was to be found is perfect; nothing for something, or something for nothing, is 0."""
    scores = [METRICS[name]([], []), METRICS[name](["a"], []), METRICS[name]([], ["a"])]
    assert [Score(1, 1, 1), Score(0, 0, 0), Score(0, 0, 0)] == scores


@pytest.mark.parametrize("name", METRICS)
@given(a=TEXTS, b=TEXTS)
def test_laws_of_every_metric(name: str, a: list[str], b: list[str]) -> None:
    """Values lie between 0 and 1, a text is like itself, and swapping the texts swaps precision and recall."""
    score, swapped = METRICS[name](a, b), METRICS[name](b, a)
    assert all(0 <= value <= 1 for value in (score.precision, score.recall, score.f1))
    assert Score(1, 1, 1) == METRICS[name](a, a)
    assert Score(score.recall, score.precision, score.f1) == swapped


@given(a=TEXTS.filter(bool), b=TEXTS.filter(bool))
def test_plain_python_says_the_same(a: list[str], b: list[str]) -> None:
    """Edit distance and common subsequence by their tables, sets and multisets by their definition."""
    lcs = common(a, b)
    in_both = sum(min(a.count(word), b.count(word)) for word in set(a))
    assert close(levenshtein(a, b), *[1 - edits(a, b) / max(len(a), len(b))] * 3)
    assert close(jaccard(a, b), *[len(set(a) & set(b)) / len({*a, *b})] * 3)
    assert close(rouge_l(a, b), lcs / len(b), lcs / len(a), 2 * lcs / (len(a) + len(b)))
    assert close(bag_of_words(a, b), in_both / len(b), in_both / len(a), 2 * in_both / (len(a) + len(b)))


@given(a=TEXTS.filter(bool), b=TEXTS.filter(bool))
def test_python_levenshtein_says_the_same(a: list[str], b: list[str]) -> None:
    """1 - its distance over the longer length."""
    library = pytest.importorskip("Levenshtein")
    assert math.isclose(1 - library.distance(a, b) / max(len(a), len(b)), levenshtein(a, b).f1, abs_tol=1e-12)


@pytest.fixture(scope="module")
def rouge() -> Any:
    library = pytest.importorskip("rouge_score.rouge_scorer")

    class Words:
        def tokenize(self, text: str) -> list[str]:
            return text.split()

    return library.RougeScorer(["rougeL", "rouge1", "rouge4"], tokenizer=Words())


@given(a=TEXTS.filter(lambda text: len(text) >= 4), b=TEXTS.filter(lambda text: len(text) >= 4))
def test_rouge_score_says_the_same(rouge: Any, a: list[str], b: list[str]) -> None:
    """Its rougeL, rouge1 and rouge4 are our rouge_l, bag_of_words and four_gram."""
    theirs = rouge.score(" ".join(a), " ".join(b))
    ours = {"rougeL": rouge_l(a, b), "rouge1": bag_of_words(a, b), "rouge4": four_gram(a, b)}
    assert {} == {
        name: (theirs[name], score)
        for name, score in ours.items()
        if not close(score, theirs[name].precision, theirs[name].recall, theirs[name].fmeasure)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't STOP, e-mail\u00a0me!", "don t stop e mail me"),
        ("ﬁsh ＡＢ\u00adＣ snake_case", "fish abc snake case"),
        ("日本語 and news", "日 本 語 and news"),
        (" … — ", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    """Tokens are alphanumeric, lower case and normalised; without spaces they are characters."""
    assert expected.split() == words(text)
