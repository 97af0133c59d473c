"""The nouns: ids by content, bits by arms, runs and their tokens."""

import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.http_message import Defect
from dbce_spark.archive.record_date import DateSource
from dbce_spark.config import FLAGS
from dbce_spark.dbce.occurrence_bits import run_lengths
from dbce_spark.model import bits_text, digest
from tests.support.builders import annotation, bits, capture, cross, filled_cross
from tests.support.strategies import CROSSES


def test_digest_knows_where_its_parts_end() -> None:
    """("ab", "c") and ("a", "bc") are different things."""
    assert digest("ab", "c") != digest("a", "bc")


def test_digest_never_changes() -> None:
    """Ids are written to files: 32 hexadecimal digits of BLAKE2b."""
    assert digest("a", "b") == "852635742d6eb30fdccb0e7c1b53d92f"


def test_capture_id_is_of_url_time_and_payload() -> None:
    """The place of a capture is no part of its id."""
    one = capture()

    assert one.capture_id == capture(warc_file="b.warc", warc_offset=7, mime="").capture_id
    others = {
        capture(url="http://x/").capture_id,
        capture(timestamp=1).capture_id,
        capture(payload_digest="").capture_id,
    }
    assert len(others | {one.capture_id}) == 4


def test_cross_bits_are_its_arms() -> None:
    """A cross has the bits of the arms that it has."""
    expected = list(CROSSES)
    actual = [bits_text(filled_cross(pattern).bits) for pattern in CROSSES]

    assert expected == actual


def test_cross_id_is_of_its_captures() -> None:
    """Similarities do not name a cross, its arms in their places do."""
    assert cross("a", "b", "c").cross_id != cross("a", "c", "b").cross_id
    assert cross("a", "b", "").cross_id != cross("a", "", "b").cross_id


@given(st.lists(st.integers(16, 31), min_size=1, max_size=40))
def test_runs_are_their_tokens(per_token: list[int]) -> None:
    """Run-length encoding loses nothing, and no two runs in a row are alike."""
    expected = np.array(per_token, np.uint8)
    made = run_lengths(cross(), expected)

    assert np.array_equal(expected, made.per_token())
    assert (np.diff(made.bits.astype(int)) != 0).all()


def test_run_lengths() -> None:
    """Runs end where the bits change."""
    made = annotation(cross(), ["11000", "11000", "10000", "11000"])

    assert ([2, 3, 4], bits("11000", "10000", "11000").tolist()) == (made.ends.tolist(), made.bits.tolist())


def test_all_flags_are_listed_with_their_meanings() -> None:
    """Filters refuse any other, and docs/tables.md has the same."""
    section = (Path(__file__).parents[1] / "docs" / "tables.md").read_text().split("### flags\n")[1].split("\n### ")[0]
    documented = {name for row in section.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}

    assert documented == {*FLAGS}
    assert {*map(str, Defect), *map(str, DateSource)} <= {*FLAGS}
