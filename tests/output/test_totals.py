"""The totals of all increments are those of one run over all crawls."""

from pathlib import Path

from dbce_spark.output import output_reader
from tests.support import sample_collection as grown


def test_every_record_has_one_outcome(collected: Path) -> None:
    """In each version the counts add up, and are those of one run over its crawls."""
    for version in (1, 2, 3):
        run, result = output_reader.open_output(str(collected), version).run, grown.whole(collected, version)
        outcomes = (run["extractions"], run["revisits"], sum(run["rejects"].values()), sum(run["skipped"].values()))

        assert run["records_read"] == sum(outcomes)
        assert (len(result.extractions), len(result.revisits)) == outcomes[:2]
        assert (result.records_read, result.skipped) == (run["records_read"], run["skipped"])


def test_entries_that_readers_use_are_there(collected: Path) -> None:
    """The totals have the settings of all labels, their version, and a plan that differs between versions."""
    runs = [output_reader.open_output(str(collected), version).run for version in (1, 2, 3)]

    assert [3] * 3 == [run["config"]["output"]["site_parts"] for run in runs]
    assert ([1, 2, 3], 3) == (runs[2]["collection"]["increments"], runs[2]["collection"]["crawls"])
    assert 3 == len({run["plan"] for run in runs})
    assert (4, 6.0) == (runs[2]["files"], runs[2]["seconds"]["pages"])
