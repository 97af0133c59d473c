import base64
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks.__main__ import main

REPOSITORY = Path(__file__).parents[2]
NOTEBOOK = REPOSITORY / "examples" / "notebook.ipynb"
PNG = b"\x89PNG\r\n\x1a\n"


def opened() -> nbformat.NotebookNode:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]  # it has types for some functions
    assert isinstance(notebook, nbformat.NotebookNode)
    return notebook


def test_no_output_is_stored() -> None:
    """The notebook holds no outputs, so that none can be out of date."""
    cells = [cell for cell in opened().cells if cell.cell_type == "code"]

    assert cells
    assert [] == [cell for cell in cells if cell.outputs or cell.execution_count is not None]


@pytest.mark.spark
def test_notebook_runs_on_the_sample_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs in a kernel of its own; there are figures, and no damage in an archive that has none."""
    main(["sample-archive", str(tmp_path / "sample"), "--pages", "8"])
    monkeypatch.setenv("ARCHIVE", str(tmp_path / "sample"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = opened()
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    figures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    tables = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]

    assert 3 == len([figure for figure in figures if base64.b64decode(figure).startswith(PNG)])
    assert "revisit" in tables[0]
    assert "404" in tables[-2]
    assert "<tr>" not in tables[-1].partition("<tbody>")[2]
