"""Time a page: the method stage by stage, the Spark job, and extractors of single pages, on the same pages in one run.

Times are of this machine at this hour; what holds elsewhere are the ratios.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from dbce_spark.archive import warc
from dbce_spark.archive.records import Limits, Record, records
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, page_labels, pages, pools, sites
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.extraction.page_extraction import extract
from dbce_spark.dbce.kept.kept_formats import MARKDOWN, Formats, format_extractions
from dbce_spark.errors import InputError, PlatformError, installs
from dbce_spark.files import storage
from dbce_spark.files.sources import open_binary
from dbce_spark.html import language
from dbce_spark.html.charset import decode
from dbce_spark.log import counted
from dbce_spark.model import Extraction, Page
from dbce_spark.output.schemas import extraction_rows, page_rows

MAX_PAGES = 1000
"""Pages that are timed without Spark, the first of each file, as many of each: trafilatura takes 20 s for them."""

LABELS = ("classifier", "T002")
"""The labellers in Spark, each in runs of its own."""

_BY_TRAFILATURA = "spark trafilatura"
_BY_ITSELF = "dbce page by page"
_WITH_MARKDOWN = "dbce_local with Markdown"

_ROUND = 50
"""Captures that each contender takes in turn."""
_START_UP_CAPTURES = 1
"""Captures of each file in the small run."""
_LEAST_BEYOND = 100
"""Pages beyond the small run from which on a page has a time: runs of ten seconds vary by one, a page takes 0.01."""
_BATCH = 128

Extractor = Callable[[str], str | None]
Work = Callable[[Any, Sequence[str], str, int | None], tuple[int, dict[str, float]]]
"""A job in a Spark session: with files, into a folder, up to so many captures. Pages, and seconds by stage."""


class Stopwatch:
    """CPU seconds of this process, by activity."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started

    def ms(self, names: Sequence[str], pages_: int) -> dict[str, float]:
        return {name: round(self.seconds[name] / pages_ * 1000, 3) for name in names}


def write(files: Sequence[str], target: str, config: DbceConfig) -> str:
    """Measure, write the figures to `target` as JSON and return them as text.

    Raises:
        InputError: no file holds a page.
        PlatformError: trafilatura or resiliparse is not installed.
    """
    report = _measured(files, config)
    storage.write_json(target, report)
    return _text(report, target)


def _measured(files: Sequence[str], config: DbceConfig) -> dict[str, Any]:
    extractors = _page_extractors()
    watch = Stopwatch()
    htmls: dict[str, bytes] = {}
    read = [
        page
        for fetches in _rounds(files, config, watch)
        for page in _timed_round(fetches, extractors, config, watch, htmls)
    ]
    if not read:
        raise InputError(f"no page in {counted(len(files), 'file')}; name archives that hold some")
    labelled = _joint_stages(read, config, watch)
    stages = watch.ms([name for name in watch.seconds if name not in extractors], len(read))
    local = sum(stages.values())
    _write_markdown(labelled, htmls, config, watch)
    works: dict[str, Work] = {f"spark {by}": partial(_dbce, _labelled(config, by)) for by in LABELS}
    works[_BY_TRAFILATURA] = partial(_trafilatura, config)
    spark = {name: _in_spark(work, files) for name, work in works.items()}
    times = {
        "dbce_local": round(local, 3),
        _WITH_MARKDOWN: round(local + watch.ms([MARKDOWN], len(read))[MARKDOWN], 3),
        **{name: measured["ms_per_page"] for name, measured in spark.items()},
        **watch.ms(list(extractors), len(read)),
    }
    others = {name: ms for name, ms in times.items() if name != "trafilatura"}
    return {
        "pages": len(read),
        "ms_per_page": times,
        "ratio_to_trafilatura": {name: _ratio(ms, times["trafilatura"]) for name, ms in others.items()},
        "stages": stages,
        "reader": _reader(files, config),
        "spark": spark,
    }


def _ratio(one: float | None, other: float | None) -> float | None:
    """Return how many times the other one is; None where either means nothing."""
    return round(one / other, 3) if one and other else None


def _reader(files: Sequence[str], config: DbceConfig) -> dict[str, float | None]:
    """Measure CPU milliseconds a record to go through the files and read every block, ours and FastWARC's, the least of
    three rounds, over the gzip WARCs among them: FastWARC reads no ARC, and stops at damages. None without any."""
    from fastwarc.warc import ArchiveIterator

    limits = Limits.from_config(config.input)

    def ours(path: str) -> int:
        with open_binary(path) as stream:
            return sum(isinstance(one, Record) for one in records(stream, limits))

    def theirs(path: str) -> int:
        with open_binary(path) as stream:
            return sum(one.reader.read() is not None for one in ArchiveIterator(stream, parse_http=False))

    gzips = [path for path in files if path.endswith(".warc.gz")]
    if not gzips:
        return dict.fromkeys(("dbce", "fastwarc", "ratio"))
    best = {name: _least_ms(count_of, gzips) for name, count_of in (("dbce", ours), ("fastwarc", theirs))}
    figures: dict[str, float | None] = {name: round(value, 4) for name, value in best.items()}
    return {**figures, "ratio": _ratio(best["dbce"], best["fastwarc"])}


def _least_ms(count_of: Callable[[str], int], paths: Sequence[str]) -> float:
    """Measure CPU milliseconds a record of a reader that counts them, the least of three rounds."""
    rounds = []
    for _ in range(3):
        started = time.process_time()
        count = sum(map(count_of, paths))
        rounds.append((time.process_time() - started) / max(1, count) * 1000)
    return min(rounds)


def _page_extractors() -> dict[str, Extractor]:
    try:
        import fastwarc  # noqa: F401
        import psutil  # noqa: F401
        import trafilatura
        import turbohtml
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run: {installs('bench')}") from error
    return {
        _BY_ITSELF: _extract_alone,
        "trafilatura": lambda html: trafilatura.extract(html, include_comments=False),
        "resiliparse": lambda html: extract_plain_text(html, main_content=True),
        "turbohtml": lambda html: turbohtml.parse(html).main_text(),
    }


def _extract_alone(html: str) -> str | None:
    """Extract a page as a line of Python does, one after the other; None where it has no text."""
    try:
        return extract(html).page_text
    except InputError:
        return None


def _rounds(files: Sequence[str], config: DbceConfig, watch: Stopwatch) -> Iterator[list[warc.Fetch]]:
    """Iterate over the first captures of each file, a few at a time, so that other work of the machine slows every
    contender alike."""
    for path in files:
        found = warc.read(path, config.input, config.page.max_html_bytes)
        captures = islice((one for one in found if isinstance(one, warc.Fetch)), max(1, MAX_PAGES // len(files)))
        while True:
            with watch.measure("read"):
                fetches = list(islice(captures, _ROUND))
            if not fetches:
                break
            yield fetches


def _timed_round(
    fetches: Sequence[warc.Fetch],
    extractors: Mapping[str, Extractor],
    config: DbceConfig,
    watch: Stopwatch,
    htmls: dict[str, bytes],
) -> list[Page]:
    """Let each contender take some captures; return our pages, and put their HTML into `htmls` by capture."""
    with watch.measure("page"):
        parsed = pages.parse_fetches(fetches, config)
    read = [page for page in parsed if isinstance(page, Page)]
    with watch.measure("stage"):
        page_rows.pages_batch(read, [None] * len(read), file_no=0, first_row=0)
    # They are given text: decoding is not theirs to be timed for, and every one gets the same.
    decoded = [decode(fetch.html, fetch.capture.declared_charset).html for fetch in fetches]
    htmls |= {page.capture_id: html for page, html in zip(parsed, decoded, strict=True) if isinstance(page, Page)}
    texts = [html.decode() for html in decoded]
    for name, extract_one in extractors.items():
        with watch.measure(name):
            for text in texts:
                extract_one(text)
    return read


def _joint_stages(read: Sequence[Page], config: DbceConfig, watch: Stopwatch) -> list[Extraction]:
    """Compare pages, label them and make their rows; return what was made of each."""
    unique = pages.unique(read)
    with watch.measure("find"):
        found = sites.choose_crosses(buckets.members(unique), config)
    with watch.measure("annotate"):
        annotations = sites.annotate_crosses([one.cross for one in found], unique, config)
    with watch.measure("evidence"):
        evidence = pools.evidence(unique, config.bucket.cap, partial(load_classifier, config.label.classifier))
    with watch.measure("merge"):
        page_evidence = [evidence.get(page.capture_id, pools.page_evidence(page)) for page in unique]
        gathered = [
            sites.gather(page, annotations[page.capture_id], one_page, "")
            for page, one_page in zip(unique, page_evidence, strict=True)
        ]
        merged = page_labels.label_pages(gathered, config.label)
    with watch.measure("rows"):
        for start in range(0, len(merged), _BATCH):
            some = merged[start : start + _BATCH]
            languages = language.detect_languages([one.text for one in some], config.language)
            extraction_rows.extractions_batch(some, languages, [Formats()] * len(some), config.output.site_parts)
    return merged


def _write_markdown(
    labelled: Sequence[Extraction], htmls: Mapping[str, bytes], config: DbceConfig, watch: Stopwatch
) -> None:
    """Write the Markdown of labelled pages, as a run does that is asked for it."""
    formats = replace(config.formats, columns=("text", MARKDOWN))
    with watch.measure(MARKDOWN):
        format_extractions(labelled, [htmls[one.page.capture_id] for one in labelled], formats, False)


def _labelled(config: DbceConfig, by: str) -> DbceConfig:
    return replace(config, label=replace(config.label, by=by))


@dataclass(frozen=True, slots=True)
class _SparkRun:
    """One run in Spark: seconds of CPU, by the clock, and by the clock in each stage."""

    cpu: float
    wall: float
    pages: int
    stages: Mapping[str, float]


def _in_spark(work: Work, files: Sequence[str]) -> dict[str, Any]:
    """Run work in local Spark: twice on one capture of each file, to warm up and to measure the fixed cost of a run,
    and once on all.

    `ms_per_page` is CPU, of Java and all Python workers, that the large run took beyond the small one;
    `wall_ms_per_page` the same by the clock, times cores. Both are None where that is nothing: of so few pages, that
    the fixed cost of a run varies by more than they take.
    """
    from dbce_spark.spark.engine.session import session

    spark = session("python -m benchmarks speed")
    cores = spark.sparkContext.defaultParallelism
    _, small, whole = (_run(work, spark, files, limit) for limit in (_START_UP_CAPTURES, _START_UP_CAPTURES, None))
    beyond = whole.pages - small.pages
    return {
        "ms_per_page": _ms_beyond(whole.cpu - small.cpu, beyond),
        "wall_ms_per_page": _ms_beyond(whole.wall - small.wall, beyond, cores),
        "pages": whole.pages,
        "cores": cores,
        "seconds": whole.stages,
        "seconds_of_one_capture_a_file": small.stages,
    }


def _run(work: Work, spark: Any, files: Sequence[str], limit: int | None) -> _SparkRun:
    with tempfile.TemporaryDirectory() as folder:
        cpu, started = _cpu_of_children(), time.monotonic()
        pages_, stages = work(spark, files, folder, limit)
        return _SparkRun(_cpu_of_children() - cpu, time.monotonic() - started, pages_, stages)


def _ms_beyond(seconds: float, pages_: int, times: int = 1) -> float | None:
    """Return the milliseconds a page of a run beyond a small one; None where they mean nothing."""
    if pages_ < _LEAST_BEYOND or seconds <= 0:
        return None
    return round(seconds / pages_ * 1000 * times, 3)


def _dbce(
    config: DbceConfig, spark: Any, files: Sequence[str], folder: str, limit: int | None
) -> tuple[int, dict[str, float]]:
    """Run the whole job; return pages, and seconds by stage."""
    from dbce_spark.spark.jobs import extract_job
    from dbce_spark.spark.run.run_request import RunRequest

    request = RunRequest(files=files, output=folder, with_html=False, limit=limit, started=time.monotonic())
    report = extract_job.run(spark, request, config)
    return report["extractions"], report["seconds"]


def _trafilatura(
    config: DbceConfig, spark: Any, files: Sequence[str], folder: str, limit: int | None
) -> tuple[int, dict[str, float]]:
    """Run a job that extracts by trafilatura: the same reader, a text a page, Parquet; return pages, and no stages."""
    import pyarrow as pa

    extract = _page_extractors()["trafilatura"]

    def texts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column("value").to_pylist():
                found = warc.read(path, config.input, config.page.max_html_bytes)
                fetches = islice((one for one in found if isinstance(one, warc.Fetch)), limit)
                while some := list(islice(fetches, _BATCH)):
                    htmls = (decode(one.html, one.capture.declared_charset).html.decode() for one in some)
                    rows = {"url": [one.capture.url for one in some], "text": [extract(html) for html in htmls]}
                    yield pa.RecordBatch.from_pydict(
                        rows, schema=pa.schema([("url", pa.string()), ("text", pa.string())])
                    )

    paths = spark.createDataFrame([(path,) for path in files], "value string").repartition(len(files))
    paths.mapInArrow(texts, "url string, text string").write.parquet(f"{folder}/texts")
    return spark.read.parquet(f"{folder}/texts").count(), {}


def _cpu_of_children() -> float:
    """Sum the CPU seconds of the processes below this one, those that ended among them: Java and its Python workers."""
    import psutil

    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return float(sum(one.user + one.system + one.children_user + one.children_system for one in times))


def _text(report: Mapping[str, Any], target: str) -> str:
    ratios, times = report["ratio_to_trafilatura"], report["ms_per_page"]
    counts = f"{report['pages']:,} pages without Spark, {report['spark'][_BY_TRAFILATURA]['pages']:,} with"
    lines = [f"{counts}; CPU ms a page"]
    lines += [f"  {name:24} {_shown(ms, 8)}   x {_shown(ratios.get(name, 1.0))}" for name, ms in times.items()]
    lines += ["of dbce_local:", *(f"  {name:18} {ms:8.2f}" for name, ms in report["stages"].items())]
    reader = report["reader"]
    faster = {by: _ratio(times[_BY_TRAFILATURA], times[f"spark {by}"]) for by in LABELS}
    shown = ", ".join(f"{by} {_shown(x)}" for by, x in faster.items())
    lines.append(f"times as fast as trafilatura in Spark: {shown}")
    ours, theirs, ratio = (reader[name] for name in ("dbce", "fastwarc", "ratio"))
    lines.append(f"of a record: {_shown(ours, digits=3)}, FastWARC {_shown(theirs, digits=3)}   x {_shown(ratio)}")
    if None in times.values():
        lines.append(f"-: fewer than {_LEAST_BEYOND} pages beyond the first of each file say nothing; give more files")
    return "\n".join([*lines, f"written to {target}"])


def _shown(value: float | None, width: int = 0, digits: int = 2) -> str:
    """Format a figure; a dash where it means nothing."""
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"
