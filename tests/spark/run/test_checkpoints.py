"""Results of stages and tasks are read as they were written, and each is done once."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.spark.run import checkpoints
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.run.stage_counts import SelectedPlaces

COUNTERS: st.SearchStrategy[Counter[str]] = st.builds(Counter, st.dictionaries(st.text(), st.integers(1)))
LOSSES = st.lists(st.builds(Loss, st.text(), st.integers(), st.integers(), st.text()))
RECORD_COUNTS = st.builds(RecordCounts, st.integers(), st.integers(), COUNTERS, COUNTERS, LOSSES, st.integers())
COUNTS = st.builds(FilterCounts, st.integers(), st.integers(), COUNTERS, COUNTERS, COUNTERS)
SELECTED = st.builds(SelectedPlaces, st.dictionaries(st.text(), st.integers()), st.integers(), COUNTS, COUNTERS, LOSSES)


@given(counts=st.lists(RECORD_COUNTS), selected=SELECTED)
def test_results_are_read_as_they_were_written(counts: list[RecordCounts], selected: SelectedPlaces) -> None:
    """Dataclasses within lists and within others, counters and dicts: equal, and of the same types."""
    (read, restored) = (
        checkpoints.parsed(checkpoints.text(counts), list[RecordCounts]),
        checkpoints.parsed(checkpoints.text(selected), SelectedPlaces),
    )

    assert (counts, selected) == (read, restored)
    assert all(isinstance(one.skipped, Counter) for one in read)
    assert isinstance(restored.counts.faults, Counter)


def test_work_is_done_once(tmp_path: Path) -> None:
    """The second time its result is there already; work that fails leaves none."""
    done: list[int] = []

    def work() -> list[int]:
        done.append(len(done))
        if len(done) == 1:
            raise RuntimeError("killed")
        return done

    path = str(tmp_path / "of" / "stage.json")
    with pytest.raises(RuntimeError, match="killed"):
        checkpoints.once(path, list[int], work)
    assert checkpoints.read(path, list[int]) is None

    assert [0, 1] == checkpoints.once(path, list[int], work) == checkpoints.once(path, list[int], work) == done


def test_a_result_that_a_disk_has_changed_is_no_result(tmp_path: Path) -> None:
    """Whichever byte it is, and if the file is empty: its work is done again."""
    path = tmp_path / "stage.json"
    checkpoints.write(str(path), {"pages": 5})
    whole = path.read_bytes()
    changed = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for content in (b"", b"[" * 100_000, whole[:-5], *changed):
        path.write_bytes(content)

        assert {"pages": 5} == checkpoints.once(str(path), dict[str, int], lambda: {"pages": 5})


@pytest.mark.parametrize("value", [[1], 1, {"other": 1}, {"records": 1, "skipped": 1}, {"losses": [1]}])
def test_a_result_of_another_form_is_no_result(tmp_path: Path, value: object) -> None:
    """As another version of this program may have left it, whole as it is: its work is done again."""
    path = str(tmp_path / "stage.json")
    checkpoints.write(path, value)

    assert checkpoints.kept(path, RecordCounts) is None
