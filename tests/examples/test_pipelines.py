"""Programs and examples for the pipelines of others, in the libraries themselves. `make pipelines` installs these."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from dbce_spark import extract_pages
from tests.support.code_blocks import ROOT, blocks

EXAMPLES = ROOT / "examples/pipelines"
WHY = "a library of others, which `make pipelines` installs"
MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/town>Town and people</a></ul></nav>"
PAGES = [
    (f"{MENU}<main><h1>News</h1><p>Ship {n} of the line has landed.</p></main>", f"http://x.example/{n}")
    for n in range(4)
]
NO_PAGE = ("", "http://x.example/none")
TEXTS = [page.text for page in extract_pages(PAGES)]


def programs() -> Iterator[Any]:
    """The programs of docs/pipelines.md, each behind the library that it is for."""
    for block in blocks():
        if (block.page, block.kind) == ("docs/pipelines.md", "python"):
            library = block.code.split()[1]
            yield pytest.param(library, block.code, id=library)


def example(name: str, library: str) -> ModuleType:
    """Import an example; skip where its library is not installed."""
    pytest.importorskip(library, reason=WHY)
    sys.path.insert(0, str(EXAMPLES))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(EXAMPLES))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with pages.parquet; caches of libraries are there too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the workers that Ray starts
    html, urls = zip(*PAGES, strict=True)
    parquet.write_table(pa.table({"html": html, "url": urls}), "pages.parquet")
    return tmp_path


def test_text_is_what_only_one_page_has() -> None:
    """The tests below look for this: the menu is gone, the ship is there."""
    assert all(f"Ship {n} of the line" in text and "Town" not in text for n, text in enumerate(TEXTS))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("library", "code"), [*programs()])
def test_a_program_prints_texts(library: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each as it stands there."""
    pytest.importorskip(library, reason=WHY)
    exec(code, {"__name__": "__main__"})

    assert "Ship 0 of the line" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Dbce", "DbceTogether"])
def test_datatrove_extracts(name: str, folder: Path) -> None:
    """In a pipeline of datatrove's: texts for HTML, what is no page is dropped; alone, the menu may stay."""
    made = example("datatrove_extractor", "datatrove")
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor

    given = [Document(text=html, id=url, metadata={"url": url}) for html, url in [*PAGES, NO_PAGE]]
    found: list[Any] = []

    def keep(data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        for one in data:
            found.append(one)
            yield one

    steps = [given, getattr(made, name)(), keep]
    executor = LocalPipelineExecutor(steps, logging_dir=str(folder / "logs"))
    executor.run()

    assert [url for _, url in PAGES] == [one.id for one in found]
    assert all(f"Ship {n} of the line" in one.text for n, one in enumerate(found))
    if name == "DbceTogether":
        assert TEXTS == [one.text for one in found]


@pytest.mark.filterwarnings("ignore")
def test_nemo_curator_extracts() -> None:
    """As the library calls a stage: checked, and over a batch of documents."""
    made = example("nemo_curator_stage", "nemo_curator")
    from nemo_curator.tasks import DocumentBatch

    html, urls = zip(*PAGES, strict=True)
    batch = DocumentBatch(dataset_name="pages", data=pa.table({"html": html, "url": urls}))
    stage = made.Dbce()

    assert stage.validate_input(batch)
    (found,) = stage.process_batch([batch])
    assert TEXTS == found.to_pandas()["text"].tolist()
    assert {"html", "url", *stage.outputs()[1]} == set(found.get_columns())
