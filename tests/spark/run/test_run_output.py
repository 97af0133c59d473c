"""The output of a run before and behind its stages. No Spark is started."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.log import Log
from dbce_spark.output.collection import RUN_FILE
from dbce_spark.spark.run import plan, run_output, staging
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.builders import config

CONFIG = config("label.by=T002")


@pytest.mark.parametrize(
    ("rejects", "text"),
    [({"no_text": 1200, "not_html": 3}, "rejects: 1,200 no_text, 3 not_html"), ({}, "rejects: none")],
)
def test_rejects_are_logged_by_reason(rejects: dict[str, int], text: str, caplog: pytest.LogCaptureFixture) -> None:
    """For a person as words, for programs as figures beside those of all records."""
    report = {"records_read": 1300, "rejects": rejects, "skipped": {}, "captures": 97}
    with caplog.at_level(logging.INFO):
        run_output.log_rejects(Log(), report)
    (logged,) = caplog.records

    assert text == logged.getMessage()
    assert {"records_read": 1300, "rejects": rejects, "skipped": {}} == vars(logged)["figures"]


def test_an_output_that_lacks_rows_names_the_option_that_starts_afresh(tmp_path: Path) -> None:
    """Also where a whole table is gone."""
    with pytest.raises(OutputError, match=r", with --overwrite$"):
        run_output.check_rows(str(tmp_path), {"extractions": 1})


def request(output: object, staging_in: str = "", *, overwrite: bool = False, grows: bool = False) -> RunRequest:
    """A request for a run, which extends a collection if that `grows`."""
    return RunRequest(
        files=[],
        output=str(output),
        with_html=False,
        limit=None,
        started=0.0,
        overwrite=overwrite,
        staging=staging_in,
        settings={} if grows else None,
    )


@pytest.mark.parametrize("grows", [False, True])
def test_of_an_output_all_tables_go_and_nothing_else(grows: bool, tmp_path: Path) -> None:
    """However its folder is written; an increment has more of them."""
    names = {*run_output.TABLES, *run_output.KEPT, RUN_FILE, "mine"}
    for name in names:
        (tmp_path / name).mkdir()
    run_output.begin(request(f"{tmp_path}/", grows=grows), CONFIG)
    stay = {"mine", staging.FOLDER, *(() if grows else run_output.KEPT)}

    assert stay == {one.name for one in tmp_path.iterdir()}
    assert ["plan.json"] == [one.name for one in (tmp_path / staging.FOLDER).iterdir()]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("names", [["captures", "pages"], ["captures"], ["pages", RUN_FILE]])
def test_folders_that_have_the_names_of_tables_stay(names: list[str], overwrite: bool, tmp_path: Path) -> None:
    """Only run.json, or the plan of a run, tells that a run has written what is there, and it writes no pages. Without
    --overwrite the message is the same: that option is not offered where it is refused."""
    for name in names:
        (tmp_path / "mine" / name).mkdir(parents=True)
    with pytest.raises(OutputError, match=f"holds {names[0]}, which no run has written"):
        run_output.check(request(tmp_path / "mine", overwrite=overwrite), CONFIG)


def test_an_output_that_is_a_file_is_refused_as_one(tmp_path: Path) -> None:
    """No lock of another run is looked for in it."""
    (file := tmp_path / "out").touch()

    with pytest.raises(OutputError, match="out is a file; give a folder for the output"):
        run_output.check(request(file), CONFIG)


def test_the_plan_of_a_run_on_another_output_says_nothing_of_this_one(tmp_path: Path) -> None:
    """Runs on outputs in object stores may stage in one folder."""
    staged_in = str(tmp_path / "staged")
    mine, other = tmp_path / "mine", tmp_path / "other"
    for output in (mine, other):
        (output / "extractions").mkdir(parents=True)
    plan.save(request(other, staged_in).plan(CONFIG), staged_in)

    run_output.check(request(other, staged_in, overwrite=True), CONFIG)
    with pytest.raises(OutputError, match="holds extractions, which no run has written"):
        run_output.check(request(mine, staged_in, overwrite=True), CONFIG)


@pytest.mark.parametrize("ends_at", range(8))
def test_a_run_that_is_ended_while_it_makes_room_may_be_given_again(
    ends_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any step: what lies there is still known as an output, and nothing of it is left when the run goes on."""
    wanted = request(tmp_path, overwrite=True)
    for name in (*run_output.TABLES, RUN_FILE):
        (tmp_path / name).mkdir()
    steps = iter(range(ends_at, -1, -1))

    def ending(step: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            if not next(steps, 0):
                raise KeyboardInterrupt
            step(*arguments)

        return call

    with monkeypatch.context() as ended:
        for module, name in ((storage, "write"), (storage, "remove"), (run_output, "sweep")):
            ended.setattr(module, name, ending(getattr(module, name)))
        with pytest.raises(KeyboardInterrupt):
            run_output.begin(wanted, CONFIG)
    run_output.check(wanted, CONFIG)
    if RUN_FILE in storage.list_names(str(tmp_path)):
        run_output.begin(wanted, CONFIG)
    else:
        assert replace(wanted, overwrite=False).goes_on(CONFIG)
        run_output.go_on(wanted)

    assert [staging.FOLDER] == [one.name for one in tmp_path.iterdir()]
    assert ["plan.json"] == [one.name for one in (tmp_path / staging.FOLDER).iterdir()]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_that_was_killed_while_it_wrote_run_json_may_be_given_again(overwrite: bool, tmp_path: Path) -> None:
    """With the half of it that is left there, which is swept."""
    run_output.begin(request(tmp_path), CONFIG)
    (tmp_path / "extractions").mkdir()
    half = tmp_path / f"_{RUN_FILE}.{'0' * 32}"
    half.touch()
    again = request(tmp_path, overwrite=overwrite)
    run_output.check(again, CONFIG)
    run_output.begin(again, CONFIG)

    assert not half.exists()


def test_halves_of_files_are_swept_where_a_run_stages_and_where_it_writes(tmp_path: Path) -> None:
    """An object store has none, and is not asked; those of other runs, which stage in folders beside it, stay."""
    folders = ("work/_staging/pages", "out", "work/other/_staging/pages")
    halves = [tmp_path / folder / ("_part.parquet." + "0123456789abcdef" * 2) for folder in folders]
    for half in halves:
        half.parent.mkdir(parents=True)
        half.touch()
    for output in ("memory://bucket/out", str(tmp_path / "out")):
        run_output.sweep(request(output, str(tmp_path / "work")))

    assert [False, False, True] == [half.exists() for half in halves]


def test_a_broken_file_is_forgotten_whole_also_at_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run may be stopped while it removes what was made of the file: checkpoints would stay of tables that are
    gone. The one that goes on first removes the rest."""
    broken, *others = (staging.path(str(tmp_path), name) for name in ("crosses/part-0.parquet", "done/crosses.json"))
    for path in (broken, *others, staging.path(str(tmp_path), staging.PLAN), f"{tmp_path}/extractions/part-0.parquet"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    with monkeypatch.context() as stopped:
        stopped.setattr(staging, "_empty", Mock(side_effect=[None, KeyboardInterrupt]))
        with pytest.raises(KeyboardInterrupt):
            run_output.forget(request(tmp_path), broken)
    run_output.go_on(request(tmp_path))
    run_output.go_on(request(tmp_path))

    assert ["_staging/plan.json"] == [str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()]
