"""The cost of a large run: sums that can be done by hand, and how figures grow together."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import cost
from benchmarks.__main__ import main
from benchmarks.scale.runs import Run
from dbce_spark import config
from dbce_spark.errors import ConfigError, InputError

PAGE = cost.Measured(cpu_ms=10.0, shuffle_bytes=8e3, staged_bytes=20e3, output_bytes=5e3, input_bytes=40e3)
GIVEN = dataclasses.asdict(PAGE)
NOTHING = dict.fromkeys(cost.FIGURES)


def bill(captures: int, page: cost.Measured = PAGE, hours: float = 10.0) -> cost.Bill:
    return cost.bill(captures, page, hours, cost.prices(), config.default())


def test_the_bill_of_a_hundred_million_pages() -> None:
    """10 ms a page are 278 core-hours; paid are those at which tasks work eight tenths of the time; half a terabyte of
    output for a month is $11.50."""
    result = bill(100_000_000)

    assert result.core_hours == pytest.approx(277.78, abs=0.01)
    assert result.dollars.on_demand == pytest.approx(277.78 / 0.8 * 0.0425, abs=0.01)
    assert result.dollars.spot == pytest.approx(277.78 / 0.8 * 1.1 * 0.0162, abs=0.01)
    assert result.dollars.output == pytest.approx(500 * 0.023)
    assert (35, 1) == (result.vcpus, result.instances)
    assert (4e12, 8e11, 2e12, 5e11) == (
        result.run.input_bytes,
        result.run.shuffle_bytes,
        result.run.staged_bytes,
        result.run.output_bytes,
    )


def test_requests_are_counted_by_file_and_range() -> None:
    """4 TB in files of 1 GiB are 3,726 tasks, each with two requests for its size, and one for each 8 MiB; the output
    has eight files for every 40,960 rows, each begun, sent in one part, and ended."""
    result = bill(100_000_000)

    assert 3726 == result.tasks
    assert 2 * 3726 + 476_838 == result.gets
    assert 8 * 2442 * 3 == result.puts
    assert result.dollars.requests == pytest.approx(result.gets / 1000 * 0.0004 + result.puts / 1000 * 0.005)


def test_a_large_file_is_sent_in_parts() -> None:
    """A file that does not fit in one part takes a request for each."""
    page = dataclasses.replace(PAGE, output_bytes=30e3)

    assert 8 * (3 + 2) == bill(40_960, page).puts


def test_a_sooner_end_takes_more_machines_and_no_more_money() -> None:
    """A tenth of the time takes ten times the vCPUs, for the same core-hours."""
    slow, fast = bill(3_000_000_000, hours=100), bill(3_000_000_000, hours=10)

    assert fast.vcpus == pytest.approx(10 * slow.vcpus, rel=0.01)
    assert slow.dollars.on_demand == fast.dollars.on_demand
    assert slow.core_hours == fast.core_hours


@given(st.integers(min_value=1, max_value=10_000_000_000), st.floats(min_value=1, max_value=1e6))
def test_partitions_stay_between_their_bounds(captures: int, shuffled: float) -> None:
    """Whatever is shuffled, a partition has what one of them may have, and they hold all of it."""
    page = dataclasses.replace(PAGE, shuffle_bytes=shuffled)
    bounds, result = cost.prices().shuffle, bill(captures, page)

    assert bounds.partition_bytes <= result.partition_bytes <= bounds.max_partition_bytes
    assert result.partitions * result.partition_bytes >= result.run.shuffle_bytes
    assert (result.partitions - 1) * result.partition_bytes <= result.run.shuffle_bytes * (1 + 1e-9)


def test_blocks_of_many_partitions_are_kept_from_getting_small() -> None:
    """Ten times as much is shuffled in about three times as many partitions: blocks stay as large as they are to be."""
    ten_times = dataclasses.replace(PAGE, shuffle_bytes=80e3)
    before, after = bill(100_000_000), bill(100_000_000, ten_times)

    assert after.partitions == pytest.approx(10**0.5 * before.partitions, rel=0.01)
    assert after.partition_bytes**2 / after.run.shuffle_bytes == pytest.approx(cost.prices().shuffle.block_bytes)


def test_a_small_run_has_partitions_of_the_least_size() -> None:
    """Nobody makes partitions large for a shuffle that has few."""
    assert bill(1_000_000).partition_bytes == cost.prices().shuffle.partition_bytes


def growth(path: Path, **largest: object) -> str:
    small = {"pages": 10, "ms_per_page": 99.0, **dict.fromkeys(cost.BENCHED.values(), 1)}
    large = {"pages": 1000, "ms_per_page": 7.5, **dict.fromkeys(cost.BENCHED.values(), 2000), **largest}
    path.write_text(json.dumps({"growth": {"1000": large, "10": small}}))
    return str(path)


def test_figures_are_those_of_the_largest_archive(tmp_path: Path) -> None:
    """The largest of several measured sizes counts, by the page."""
    result = cost.measured(growth(tmp_path / "scale.json", staging_peak_bytes=5000), NOTHING)

    assert cost.Measured(cpu_ms=7.5, shuffle_bytes=2, staged_bytes=5, output_bytes=2, input_bytes=2) == result


def test_bench_scale_writes_what_is_read() -> None:
    """Each figure that is taken from bench-scale.json is one that a run has there."""
    assert set(cost.BENCHED.values()) <= {one.name for one in dataclasses.fields(Run)}
    assert {*cost.BENCHED, "cpu_ms"} == set(cost.FIGURES)


def test_what_is_given_replaces_what_was_measured(tmp_path: Path) -> None:
    """One option changes its figure and no other."""
    result = cost.measured(growth(tmp_path / "scale.json"), {**NOTHING, "cpu_ms": 3.0})

    assert (3.0, 2.0) == (result.cpu_ms, result.shuffle_bytes)


@pytest.mark.parametrize("content", ["", "[]", '{"growth": {}}', '{"growth": {"1": {"pages": 0, "ms_per_page": 1}}}'])
def test_another_file_is_no_measurement(content: str, tmp_path: Path) -> None:
    """The error names the file and what writes one."""
    (tmp_path / "other.json").write_text(content)
    with pytest.raises(InputError, match=r"other\.json: is not what `make bench-scale` writes"):
        cost.measured(str(tmp_path / "other.json"), NOTHING)


def test_a_figure_that_was_not_measured_is_required() -> None:
    """No figure has a default: the error names the options that are missing."""
    with pytest.raises(InputError, match=r"give --shuffle-bytes, --staged-bytes$"):
        cost.measured(None, {**GIVEN, "shuffle_bytes": None, "staged_bytes": None})
    with pytest.raises(InputError, match=r"cpu_ms is 0"):
        cost.measured(None, {**GIVEN, "cpu_ms": 0.0})


def test_own_prices_are_laid_over_the_shipped(tmp_path: Path) -> None:
    """A file changes the prices that it names."""
    (tmp_path / "mine.toml").write_text("[compute]\nvcpus = 8\n")
    result = cost.prices(str(tmp_path / "mine.toml"))

    assert 8 == result.compute.vcpus
    assert cost.prices().storage == result.storage
    assert cost.prices().compute == dataclasses.replace(result.compute, vcpus=96)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("vcpus = 8", "vcpus is no parameter; known here: compute, files, shuffle, storage"),
        ("[gold]\nounce = 1", "gold is no parameter; known here: compute, files, shuffle, storage"),
        ("[compute]\nvcpu = 8", r"compute\.vcpu is no parameter; known here: busy, "),
        ("[compute]\nvcpus = 0", r"compute\.vcpus is 0; it must be at least 1"),
        ("[compute]\nvcpus = 'many'", r"compute\.vcpus is 'many'; it must be int"),
        ("[compute", "cannot be read as a configuration"),
    ],
)
def test_wrong_prices_are_refused(content: str, message: str, tmp_path: Path) -> None:
    """An unknown name, or a value that is none, is named."""
    (tmp_path / "mine.toml").write_text(content)
    with pytest.raises(ConfigError, match=message):
        cost.prices(str(tmp_path / "mine.toml"))


def test_the_command_prints_the_bill(capsys: pytest.CaptureFixture[str]) -> None:
    """For one run of the requested size it prints the cost."""
    options = [word for name, value in GIVEN.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    status = main(["cost", "--captures", "1000000", *options])
    message = capsys.readouterr().out

    assert 0 == status
    assert ["captures", "1,000,000"] == message.splitlines()[1].split()
    assert "core-hours" in message


def test_the_command_names_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a measurement it reckons nothing."""
    assert 2 == main(["cost"])
    assert "name a bench-scale.json" in capsys.readouterr().err
