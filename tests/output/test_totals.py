"""The totals of all increments are those of one run over all crawls."""

from pathlib import Path
from typing import Any

from dbce_spark.archive import failed_files
from dbce_spark.archive.revisits import Resolved, lost_original
from dbce_spark.output import output_reader, totals
from dbce_spark.output.collection import Version
from tests.support import sample_collection as grown
from tests.support.revisits import unresolved_revisit


def ran(rejects: dict[str, int]) -> totals.Run:
    """Make the report of a run that read nothing but rejects."""
    nothing: dict[str, Any] = {key: {} for key in ("skipped", "seconds", "config", "versions")}
    counts = {"pages_per_second_per_core": 0.0, "largest_bucket": 0, "plan": ""}
    return {**nothing, **counts, "rejects": rejects, "failed_files": failed_files.report([], 0)}


def test_every_record_has_one_outcome(collected: Path) -> None:
    """In each version the counts add up, and are those of one run over its crawls."""
    for version in (1, 2, 3):
        run, result = output_reader.open_output(str(collected), version).run, grown.whole(collected, version)
        outcomes = (run["extractions"], run["revisits"], sum(run["rejects"].values()), sum(run["skipped"].values()))

        assert run["records_read"] == sum(outcomes)
        assert (len(result.extractions), len(result.revisits)) == outcomes[:2]
        assert (result.records_read, result.skipped) == (run["records_read"], run["skipped"])


def test_revisits_of_pages_without_labels_are_counted_in_every_version() -> None:
    """A revisit that no later run looks up again stays a reject of its run; one that is looked up is of the last."""
    resolved = Resolved(unresolved_revisit(), "of a page that failed", "sha1:A")
    reason = str(lost_original(resolved).reason)
    runs = [ran({reason: 1, "revisit_unresolved": 2}), ran({"revisit_unresolved": 1})]
    version = Version(number=2, made="", why="extract", increments=(), settings={"config": {}})

    assert {reason: 1, "revisit_unresolved": 1} == totals.sum_runs(version, runs)["rejects"]


def test_entries_that_readers_use_are_there(collected: Path) -> None:
    """The totals have the settings of all labels, their version, and a plan that differs between versions."""
    runs = [output_reader.open_output(str(collected), version).run for version in (1, 2, 3)]

    assert [3] * 3 == [run["config"]["output"]["site_parts"] for run in runs]
    assert ([1, 2, 3], 3) == (runs[2]["collection"]["increments"], runs[2]["collection"]["crawls"])
    assert 3 == len({run["plan"] for run in runs})
    assert (4, 6.0) == (runs[2]["files"], runs[2]["seconds"]["pages"])
