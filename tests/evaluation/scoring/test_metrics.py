"""Metrics agree with the study's examples, with plain Python and with other people's implementations."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.scoring import metrics
from dbce_spark.evaluation.scoring.metrics import (
    METRICS,
    NAMES,
    Score,
    bag_of_words,
    four_gram,
    jaccard,
    levenshtein,
    lines,
    rouge_l,
    rouge_lsum,
    scores,
    words,
)

LINES = st.lists(st.lists(st.sampled_from("a b c d aa ab".split()), min_size=1, max_size=12), max_size=5)
TEXTS = st.lists(st.sampled_from("a b c d e f gg hh".split()), max_size=14)
DOG, LION = "A black dog chases a cat".split(), "A lion chases a zebra".split()


def edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the edit distance by Wagner and Fischer's table."""
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, start=1):
        before, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (word != other)))
    return row[-1]


def common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
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
    """ "A dog chases a cat for fun" turned round has every word and no run of four."""
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
def test_plain_python_gives_the_same(a: list[str], b: list[str]) -> None:
    """Edit distance and common subsequence by their tables, sets and multisets by their definition."""
    lcs = common(a, b)
    in_both = sum(min(a.count(word), b.count(word)) for word in set(a))
    assert close(levenshtein(a, b), *[1 - edits(a, b) / max(len(a), len(b))] * 3)
    assert close(jaccard(a, b), *[len(set(a) & set(b)) / len({*a, *b})] * 3)
    assert close(rouge_l(a, b), lcs / len(b), lcs / len(a), 2 * lcs / (len(a) + len(b)))
    assert close(bag_of_words(a, b), in_both / len(b), in_both / len(a), 2 * in_both / (len(a) + len(b)))


@given(a=TEXTS.filter(bool), b=TEXTS.filter(bool))
def test_python_levenshtein_gives_the_same(a: list[str], b: list[str]) -> None:
    """1 - its distance over the longer length."""
    library = pytest.importorskip("Levenshtein")
    assert math.isclose(1 - library.distance(a, b) / max(len(a), len(b)), levenshtein(a, b).f1, abs_tol=1e-12)


@pytest.fixture(scope="module")
def rouge() -> Any:
    library = pytest.importorskip("rouge_score.rouge_scorer")

    class Words:
        def tokenize(self, text: str) -> list[str]:
            return text.split()

    return library.RougeScorer(["rougeL", "rougeLsum", "rouge1", "rouge4"], tokenizer=Words())


@given(a=TEXTS.filter(lambda text: len(text) >= 4), b=TEXTS.filter(lambda text: len(text) >= 4))
def test_rouge_score_gives_the_same(rouge: Any, a: list[str], b: list[str]) -> None:
    """Its rougeL, rouge1 and rouge4 are our rouge_l, bag_of_words and four_gram."""
    theirs = rouge.score(" ".join(a), " ".join(b))
    ours = {"rougeL": rouge_l(a, b), "rouge1": bag_of_words(a, b), "rouge4": four_gram(a, b)}
    assert {} == {
        name: (theirs[name], score)
        for name, score in ours.items()
        if not close(score, theirs[name].precision, theirs[name].recall, theirs[name].fmeasure)
    }


@given(a=LINES.filter(bool), b=LINES.filter(bool))
def test_rouge_score_gives_the_same_line_by_line(rouge: Any, a: list[list[str]], b: list[list[str]]) -> None:
    """Its rougeLsum of lines is our rouge_lsum to the last tie, for lines full of repetition."""
    theirs = rouge.score(*("\n".join(map(" ".join, some)) for some in (a, b)))["rougeLsum"]
    assert close(rouge_lsum(a, b), theirs.precision, theirs.recall, theirs.fmeasure)


@given(a=TEXTS, b=TEXTS)
def test_texts_of_one_line_have_one_rouge(a: list[str], b: list[str]) -> None:
    """Without line breaks rouge_lsum is rouge_l."""
    assert rouge_l(a, b) == rouge_lsum([a] if a else [], [b] if b else [])


def test_lines_are_found_in_any_order() -> None:
    """Two lines the other way round are all there for rouge_lsum, and half there for rouge_l."""
    measured = scores("the black dog\n\nchased a cat", "Chased a cat.\nThe black dog!")
    assert (1, 0.5) == (measured["rouge_lsum"].f1, measured["rouge_l"].f1)


def test_a_word_counts_as_often_as_the_poorer_text_has_it() -> None:
    """Three lines that each find the one "the" of the prediction find it once."""
    assert Score(1 / 2, 1 / 6, 1 / 4) == rouge_lsum([["the", "cat"], ["the", "dog"], ["the", "cow"]], [["the", "end"]])


@pytest.mark.parametrize("bound", ["MAX_STEPS", "MAX_LINE"])
def test_texts_beyond_a_bound_are_one_line(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the bound, work stays linear in lines, and the value is that of the whole texts."""
    a, b = [["a", "b", "x"], ["c", "d", "y"]], [["z", "c", "d"], ["z", "a", "b"]]
    assert 4 / 6 == rouge_lsum(a, b).f1
    monkeypatch.setattr(metrics, bound, 2)
    assert 2 / 6 == rouge_lsum(a, b).f1


def test_all_metrics_of_two_texts() -> None:
    """Every name has its score, that of the text's tokens or of its lines."""
    gold, text = "A black dog\nchases a cat.", "A lion\nchases a zebra."
    measured = scores(gold, text)
    assert list(NAMES) == list(measured)
    assert {name: metric(words(gold), words(text)) for name, metric in METRICS.items()} == {
        name: measured[name] for name in METRICS
    }
    assert rouge_lsum(lines(gold), lines(text)) == measured["rouge_lsum"]


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
