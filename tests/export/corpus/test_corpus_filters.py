"""Filters: which rows each keeps, and which of several takes a row."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.errors import ConfigError
from dbce_spark.export.corpus import corpus_filters
from dbce_spark.export.row_filters import Filter, outcomes
from tests.support.builders import config
from tests.support.corpus_outputs import Row, segments

NOTHING = replace(config().corpus, min_words=0, min_probability=0.0, duplicates="keep")


def kept(one: Filter | None, **column: list[object]) -> list[bool]:
    assert one is not None
    mask: list[bool] = one.marks(pa.RecordBatch.from_pydict(column)).tolist()
    return mask


def test_probability() -> None:
    """Texts that are as likely content, or more."""
    (one,) = corpus_filters.chosen(replace(NOTHING, min_probability=0.5))

    assert [False, True] == kept(one, probability=[0.499, 0.5])
    assert [] == corpus_filters.chosen(NOTHING)


@pytest.mark.parametrize(
    ("kind", "within", "expected"),
    [
        ("exact", "all", [True, True, False, False]),
        ("near", "all", [True, False, False, False]),
        ("exact", "url", [True, True, True, False]),
        ("near", "url", [True, False, True, False]),
    ],
)
def test_duplicates(kind: str, within: str, expected: list[bool]) -> None:
    """The filter keeps the right ones of four captures: a first, one nearly like it of the same URL, a copy of that
    under another URL, and a second copy under this one."""
    one = corpus_filters.duplicates(kind, within)

    assert expected == kept(
        one,
        duplicate_of=[None, "a", "a", "a"],
        copy_of=[None, None, "b", "b"],
        repeats=[None, "near", None, "exact"],
    )


def test_duplicates_are_kept_on_request() -> None:
    """Then there is no filter."""
    assert corpus_filters.duplicates("keep", "all") is None


def test_the_probability_of_a_text_is_its_mean_score_by_characters() -> None:
    """The probability counts content alone; a page without any has 0."""
    rows = [
        segments([("a" * 30, "content", 0.9), ("b" * 100, "boilerplate", 0.1), ("c" * 10, "content", 0.5)]),
        segments([("b", "boilerplate", 0.4)]),
        [],
        segments(Row(name="x").parts),
    ]
    column = pa.array(rows, pa.list_(pa.struct([("label", pa.string()), ("score", pa.float32()),
                                                ("start", pa.int32()), ("end", pa.int32())])))  # fmt: skip

    assert [0.8, 0.0, 0.0, 0.9] == pytest.approx(corpus_filters.probability(column).tolist())
    assert [0.0, 0.9] == pytest.approx(corpus_filters.probability(column.slice(2)).tolist())


FILTERS = corpus_filters.chosen(
    replace(NOTHING, statuses=("crossed",), languages=("en", "de"), min_words=5, min_probability=0.5)
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["crossed", "single"]),
        st.sampled_from(["en", "de", "fr", ""]),
        st.integers(0, 9),
        st.sampled_from([0.0, 0.4, 0.5, 0.9]),
    )
)


@given(ROWS)
def test_a_row_is_removed_by_the_first_filter_that_does_not_keep_it(rows: list[tuple[str, str, int, float]]) -> None:
    """Row by row in plain Python: status, language, words, probability; else it is kept."""
    names = ("status", "language", "text_words", "probability")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False)) or {name: [] for name in names}
    types = [pa.string(), pa.string(), pa.int32(), pa.float64()]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(columns[name], kind) for name, kind in zip(names, types, strict=True)], names=names
    )
    expected = [
        next((at for at, keeps in enumerate((status == "crossed", language in ("en", "de"), words >= 5, score >= 0.5))
              if not keeps), 4)
        for status, language, words, score in rows
    ]  # fmt: skip

    assert ["status", "language", "words", "probability"] == [one.name for one in FILTERS]
    assert np.array_equal(expected, outcomes(batch, FILTERS))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("corpus.min_probability=2", "corpus.min_probability is 2.0; it must lie between 0 and 1"),
        ("corpus.min_words=-1", "corpus.min_words is -1; it must be at least 0"),
        ("corpus.within=page", "corpus.within is 'page'; it must be one of all, url"),
        ("corpus.duplicates=all", "corpus.duplicates is 'all'; it must be one of keep, exact, near"),
        ("corpus.statuses=['good']", "corpus.statuses is 'good'; it must be one of crossed, single"),
        ("duplicates.threshold=0", "duplicates.threshold is 0.0; it must lie above 0 and be at most 1"),
        ("duplicates.cap=1", "duplicates.cap is 1; it must be at least 2"),
        ("duplicates.rows=0", "duplicates.rows is 0; it must lie between 1 and 128"),
    ],
)
def test_parameters_out_of_their_range_are_refused(setting: str, message: str) -> None:
    """The error states the allowed values."""
    with pytest.raises(ConfigError) as caught:
        config(setting)

    assert message == str(caught.value)
