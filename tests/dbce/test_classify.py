"""The classifier: its file, its scores, and what is kept."""

import io
import json
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.block_scores import Scores
from dbce_spark.dbce.classifier_file import load_classifier, save_classifier
from dbce_spark.dbce.classify import Binning
from dbce_spark.dbce.kept_blocks import BETA_OF_FAVOR, DRAWS, choose_of_article, estimate_confidence
from dbce_spark.errors import ConfigError
from tests.support import small_classifier
from tests.support.builders import parsed
from tests.support.strategies import documents

RAN: list[str] = []


class Hostile:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RAN.append, ("ran",)


def of_pickle() -> bytes:
    return pickle.dumps(Hostile())


def of_objects() -> bytes:
    """Write an .npz whose array is a pickle."""
    stream = io.BytesIO()
    np.savez(stream, about=np.array([Hostile()], object))
    return stream.getvalue()


def of_array() -> bytes:
    """Write an .npy, not an .npz."""
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    return stream.getvalue()


def other_npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def about(content: Any) -> bytes:
    return other_npz(about=np.frombuffer(json.dumps(content).encode(), np.uint8))


def saved(folder: Path) -> Path:
    path = folder / "saved.npz"
    save_classifier(small_classifier.classifier(), path)
    return path


@pytest.mark.parametrize(
    "content",
    [
        of_pickle(), of_objects(), of_array(), b"", b"PK", b"text", other_npz(x=np.arange(2)), about({}), about([1]),
        about({"names": {}}), other_npz(about=np.array([255], np.uint8)),
    ],
    ids=["pickle", "objects", "npy", "empty", "zip begun", "text", "npz", "no names", "list", "no groups", "no text"],
)  # fmt: skip
def test_file_that_is_no_classifier(content: bytes, tmp_path: Path) -> None:
    """It is an error that names the file, and nothing in it is run."""
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"label\.classifier: .*other\.npz is no classifier"):
        load_classifier(str(path))

    assert [] == RAN


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_file(share: float, tmp_path: Path) -> None:
    """A file that ends too early is no classifier."""
    path = saved(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_damaged_file(tmp_path: Path) -> None:
    """Nor one of whose bytes some are others."""
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as stored:
        entry = next(info for info in stored.infolist() if info.filename == "second_values.npy")
    start = entry.header_offset + 30 + len(entry.filename) + 40
    content[start : start + 40] = bytes(255 - byte for byte in content[start : start + 40])
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_classifier_without_a_card(tmp_path: Path) -> None:
    """Whatever is missing in a file, it is no classifier."""
    path = saved(tmp_path)
    with np.load(path) as stored:
        arrays = dict(stored)
    content = json.loads(bytes(arrays["about"]))
    del content["card"]
    np.savez(path, **arrays | {"about": np.frombuffer(json.dumps(content).encode(), np.uint8)})
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_missing_file() -> None:
    """The error names it."""
    with pytest.raises(ConfigError, match=r"none\.npz is no classifier"):
        load_classifier("none.npz")


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    """The same features, the same card; written again the same bytes, with no time in them."""
    path, again = saved(tmp_path), tmp_path / "again.npz"
    loaded, made = load_classifier(str(path)), small_classifier.classifier()
    save_classifier(loaded, again)
    pages = [one.parsed for one in small_classifier.examples()[:8]]

    assert made.card == loaded.card
    for expected, actual in zip(made.block_features(pages), loaded.block_features(pages), strict=True):
        assert np.array_equal(expected.codes, actual.codes)
        assert np.array_equal(expected.first_scores, actual.first_scores)
        assert np.array_equal(expected.keys, actual.keys)
    assert path.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(path) as stored:
        assert {1980} == {info.date_time[0] for info in stored.infolist()}


def test_features_do_not_depend_on_the_pages_beside() -> None:
    """Bit for bit, however pages come together."""
    classifier = small_classifier.classifier()
    pages = [one.parsed for one in small_classifier.examples()[:16]]
    together = classifier.block_features(pages)
    cut = [
        *classifier.block_features(pages[:5]),
        *classifier.block_features(pages[5:6]),
        *classifier.block_features(pages[6:]),
    ]
    for one, other in zip(together, cut, strict=True):
        assert np.array_equal(one.codes, other.codes)
        assert np.array_equal(one.first_scores, other.first_scores)
        assert np.array_equal(one.keys, other.keys)


@settings(max_examples=25)
@given(documents)
def test_features_of_any_page(html: str) -> None:
    """One column a block, first scores from 0 to 1024, bins below 64."""
    page = parsed(html)
    (made,) = small_classifier.classifier().block_features([page])

    assert {len(page.blocks)} == {made.codes.shape[1], len(made.first_scores), made.keys.shape[1]}
    assert made.first_scores.max() <= 1024
    assert made.codes.max() < 64
    assert 6 == len(made.keys)


def test_bins() -> None:
    """Bin i holds what is at least edge i - 1 and less than edge i; what is missing is unknown."""
    binning = Binning(("b", "a"), (np.array([0.0, 2.0]), np.array([5.0])))
    columns = {"a": np.array([4.9, 5.0, 6.0]), "b": np.array([-1.0, 0.0, 2.0]), "c": np.zeros(3)}

    assert [[0, 1, 2], [0, 1, 1]] == binning.codes(columns, 3).tolist()
    assert [[0, 0], [0, 0]] == binning.codes({}, 2).tolist()


pages_of_scores = st.lists(st.tuples(st.integers(0, 10_000) | st.integers(0, 5), st.integers(1, 60)), min_size=1)


def columns(blocks: list[tuple[int, int]]) -> tuple[Scores, Any]:
    return np.array([score for score, _ in blocks]) / 10_000, np.array([words for _, words in blocks], np.int32)


@given(pages_of_scores, st.sampled_from(sorted(BETA_OF_FAVOR)))
def test_what_is_kept_is_the_best_cut(blocks: list[tuple[int, int]], favor: str) -> None:
    """No cut by score is expected to reach a higher F-beta; of equal cuts it is the lowest above 0."""
    weight = Fraction(BETA_OF_FAVOR[favor]) ** 2
    in_all = sum(score * words for score, words in blocks)
    draws = [(2 * nth + 1) * 10_000 // (2 * DRAWS) for nth in range(DRAWS)]

    def words_from(lowest: int) -> int:
        return sum(words for score, words in blocks if score >= lowest)

    def expected(lowest: int) -> float:
        kept_words = words_from(lowest)
        found = sum(score * words for score, words in blocks if score >= lowest)
        apart = Fraction(found) / (10_000 * kept_words + weight * in_all)
        of_draws = [words_from(draw + 1) for draw in draws]
        together = sum(min(kept_words, words) / (kept_words + weight * words) for words in of_draws)
        return float(apart + together / DRAWS)

    is_kept = choose_of_article(*columns(blocks), favor).tolist()
    cut = min((score for (score, _), kept_one in zip(blocks, is_kept, strict=True) if kept_one), default=10_001)
    best = max(expected(score) for score, _ in blocks)

    assert [score >= cut for score, _ in blocks] == is_kept
    assert cut > 0
    assert not in_all or abs(expected(cut) - best) < 1e-12
    assert all(expected(score) < best + 1e-12 for score, _ in blocks if 0 < score < cut)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 30), st.booleans()), min_size=1, max_size=8))
def test_confidence_is_the_expected_f1_of_what_is_kept(blocks: list[tuple[int, int, bool]]) -> None:
    """In fractions, block by block; where nothing is kept, the share that is expected to be no content."""
    content = [Fraction(score, 10_000) * words for score, words, _ in blocks]
    kept = sum(words for _, words, is_kept in blocks if is_kept)
    found = sum(one for one, (_, _, is_kept) in zip(content, blocks, strict=True) if is_kept)
    expected = 2 * found / (kept + sum(content)) if kept else 1 - sum(content) / sum(words for _, words, _ in blocks)
    scores, words, marks = zip(*blocks, strict=True)
    actual = estimate_confidence(np.array(scores) / 10_000, np.array(words, np.int32), np.array(marks))

    assert abs(actual - expected) <= Fraction(1, 1999)


def test_of_equal_cuts_the_lowest() -> None:
    """Blocks as likely as each other stay together."""
    assert [True, True, False] == choose_of_article(*columns([(9_000, 5), (9_000, 7), (0, 5)]), "balanced").tolist()


def test_many_unlikely_blocks_are_not_one_likely_one() -> None:
    """A short post stands above a hundred comments: were each draw its own, more words would be expected of those."""
    blocks = [(9_000, 90), *[(1_500, 25)] * 100]

    assert [True, *[False] * 100] == choose_of_article(*columns(blocks), "balanced").tolist()
    assert all(choose_of_article(*columns([(9_000, 90), *[(6_000, 25)] * 100]), "balanced").tolist())


@given(pages_of_scores)
def test_precision_keeps_some_of_balanced_and_that_some_of_recall(blocks: list[tuple[int, int]]) -> None:
    """Never another block, and none only where nothing can be content."""
    precision, balanced, recall = (
        choose_of_article(*columns(blocks), favor) for favor in ("precision", "balanced", "recall")
    )

    assert precision.any() == any(score for score, _ in blocks)
    assert (precision <= balanced).all()
    assert (balanced <= recall).all()


def test_configured_classifier_is_read_once(classifying: DbceConfig) -> None:
    """Not for each page anew."""
    assert load_classifier(classifying.label.classifier) is load_classifier(classifying.label.classifier)
