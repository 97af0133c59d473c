import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks.__main__ import main
from tests.support.cluster import INTERPRETED

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
Outputs = Callable[[Path], list[list[Any]]]
"""Runs a notebook; returns the outputs of its cells."""
PNG = b"\x89PNG\r\n\x1a\n"
SUBMITTED = " ".join([*(f"--conf {key}={value}" for key, value in INTERPRETED.items()), "pyspark-shell"])


def opened(notebook: Path) -> nbformat.NotebookNode:
    read = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]  # it has types for some functions
    assert isinstance(read, nbformat.NotebookNode)
    return read


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outputs:
    """Run a notebook on the sample archive, every cell of it in one kernel of its own; return the outputs of each."""
    main(["sample-archive", str(tmp_path / "sample"), "--pages", "8"])
    monkeypatch.setenv("ARCHIVE", str(tmp_path / "sample"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", SUBMITTED)

    def run(path: Path) -> list[list[Any]]:
        notebook = opened(path)
        where = {"metadata": {"path": tmp_path}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()
        return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]

    return run


def of_kind(kind: str, outputs: list[Any]) -> list[str]:
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_output_is_stored(path: Path) -> None:
    """A notebook holds no outputs, so that none can be out of date."""
    cells = [cell for cell in opened(path).cells if cell.cell_type == "code"]

    assert cells
    assert [] == [cell for cell in cells if cell.outputs or cell.execution_count is not None]


def test_notebook_extracts_shows_labels_and_plots(outputs: Outputs) -> None:
    """In three cells: the summary of a run without Spark, a page of the archive with its labels, and a figure."""
    extracted, shown, plotted = outputs(EXAMPLES / "notebook.ipynb")
    printed = "".join(output.text for output in extracted if output.output_type == "stream")
    (page,) = of_kind("text/html", shown)
    (figure,) = of_kind("image/png", plotted)

    assert "without Spark" in printed
    assert "dbce show" in printed
    assert "dbce-content" in page
    assert "dbce-boilerplate" in page
    assert base64.b64decode(figure).startswith(PNG)


@pytest.mark.spark
def test_notebook_of_dataframes_runs_on_the_sample_archive(outputs: Outputs) -> None:
    """There are figures, and no damage in an archive that has none."""
    printed = [output for one in outputs(EXAMPLES / "dataframe.ipynb") for output in one]
    figures, tables = of_kind("image/png", printed), of_kind("text/html", printed)

    assert 3 == len([figure for figure in figures if base64.b64decode(figure).startswith(PNG)])
    assert "revisit" in tables[0]
    assert "404" in tables[-2]
    assert "<tr>" not in tables[-1].partition("<tbody>")[2]
