"""The output of a run before and behind its stages. No Spark is started."""

import logging
from pathlib import Path
from unittest.mock import Mock

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.log import Log
from dbce_spark.spark.run import run_output, staging
from dbce_spark.spark.run.run_request import RunRequest


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


def test_of_an_output_all_tables_go_and_nothing_else(tmp_path: Path) -> None:
    """However its folder is written."""
    for name in (*run_output.TABLES, "mine"):
        (tmp_path / name).mkdir()
    run_output.remove_tables(f"{tmp_path}/")

    assert ["mine"] == [one.name for one in tmp_path.iterdir()]


def test_halves_of_files_are_swept_where_a_run_stages_and_where_it_writes(tmp_path: Path) -> None:
    """An object store has none, and is not asked; those of other runs, which stage in folders beside it, stay."""
    folders = ("work/_staging/pages", "out", "work/other/_staging/pages")
    halves = [tmp_path / folder / ("_part.parquet." + "0123456789abcdef" * 2) for folder in folders]
    for half in halves:
        half.parent.mkdir(parents=True)
        half.touch()
    for output in ("memory://bucket/out", str(tmp_path / "out")):
        request = RunRequest(
            files=[], output=output, with_html=False, limit=None, started=0.0, staging=str(tmp_path / "work")
        )
        run_output.sweep(request)

    assert [False, False, True] == [half.exists() for half in halves]


def test_a_broken_file_is_forgotten_whole_also_at_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run may be stopped while it removes what was made of the file: checkpoints would stay of tables that are
    gone. The one that goes on first removes the rest."""
    request = RunRequest(files=[], output=str(tmp_path), with_html=False, limit=None, started=0.0)
    broken, *others = (staging.path(str(tmp_path), name) for name in ("crosses/part-0.parquet", "done/crosses.json"))
    for path in (broken, *others, staging.path(str(tmp_path), staging.PLAN), f"{tmp_path}/extractions/part-0.parquet"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    with monkeypatch.context() as stopped:
        stopped.setattr(staging, "_empty", Mock(side_effect=[None, KeyboardInterrupt]))
        with pytest.raises(KeyboardInterrupt):
            run_output.forget(request, broken)
    run_output.forget_noted(request)
    run_output.forget_noted(request)

    assert ["_staging/plan.json"] == [str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()]
