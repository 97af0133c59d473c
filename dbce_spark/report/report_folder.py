"""Write the report as files: a folder of static HTML that holds all it shows and loads nothing."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from jinja2 import Environment

from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.output.collection import check_outside
from dbce_spark.report import output_counts, page_sample
from dbce_spark.report.output_counts import OutputCounts
from dbce_spark.report.overview import overview
from dbce_spark.report.page_sample import Pick
from dbce_spark.report.page_views import View, views
from dbce_spark.report.report_output import ReportOutput
from dbce_spark.report.report_templates import environment

PAGES = 12
"""Sample pages of a report: enough for the large templates of a few sites, and few enough to be looked at."""

MARKER = ".dbce-report"
"""Says that a folder is a report of ours, so that the next report may take its place."""
_PARTIAL = ".new"
"""The folder in it that holds the files of a report until all are written."""


def write_report(output: str, target: str, *, pages: int = PAGES, version: int | None = None, url: str = "") -> Path:
    """Write the report on the finished run in `output`, or on a version of the collection there, to the folder
    `target`; return its index.html. Its pages are a sample, or, with a URL, the captures of that, the newest first.

    Raises:
        OutputError: `output` is not finished, or `target` holds something else than a report.
        InputError: there is no such version, or no such page.
    """
    source, folder = ReportOutput(output, version), Path(target)
    _refuse_foreign(folder)
    counted = output_counts.count(source)
    picks = page_sample.of_url(source, url)[:pages] if url else page_sample.choose(counted, source, pages)
    _write(folder, _files(source, counted, picks))
    return folder / "index.html"


def _files(source: ReportOutput, counted: OutputCounts, picks: Sequence[Pick]) -> Iterator[tuple[str, str]]:
    """Render the files of a report one by one, by name: of each sample page only what index.html lists is kept."""
    templates, shown = environment(), []
    for view in views(picks, source):
        yield from _rendered(templates, view)
        shown.append(view.listed)
    summary = overview(source, counted, shown)
    index = templates.get_template("index.html.j2")
    yield "index.html", index.render(output=source.root, overview=summary, views=shown)


def _rendered(templates: Environment, view: View) -> Iterator[tuple[str, str]]:
    """Render the files of one sample page: the page, and its cross if it has one that can be shown."""
    yield f"pages/{view.name}.html", templates.get_template("page.html.j2").render(view=view)
    if view.arms:
        yield f"pages/{view.name}-cross.html", templates.get_template("cross.html.j2").render(view=view)


def _refuse_foreign(folder: Path) -> None:
    check_outside(str(folder))
    if folder.is_dir():
        if any(folder.iterdir()) and not (folder / MARKER).is_file():
            raise OutputError(f"{folder}: is no report of ours; give another folder, or empty this one")
    elif folder.exists():
        raise OutputError(f"{folder}: is a file; give a folder, or a name that is free")


def _write(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write all files, and only then put them in the place of an earlier report, index.html last.

    So nothing is left of a report that a full disk has ended, and one that was interrupted looks unfinished.
    """
    is_new, is_ours, partial = not folder.exists(), (folder / MARKER).exists(), folder / _PARTIAL
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text("A report of `dbce report`. The next one may overwrite this folder.\n")
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "pages").mkdir(parents=True)
        for name, text in texts:
            (partial / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
        _take_place(partial, folder)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            if not is_ours:
                (folder / MARKER).unlink(missing_ok=True)
            if is_new:
                folder.rmdir()
        if isinstance(error, OSError):
            raise OutputError(
                f"{folder}: the report cannot be written there: {error}; {storage.remedy(error)}"
            ) from error
        raise


def _take_place(partial: Path, folder: Path) -> None:
    """Move the files of a report to its folder, where they replace those of an earlier one."""
    (folder / "index.html").unlink(missing_ok=True)
    shutil.rmtree(folder / "pages", ignore_errors=True)
    for name in ("pages", "index.html"):
        (partial / name).rename(folder / name)
    partial.rmdir()
