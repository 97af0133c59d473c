"""Time a page: the method stage by stage, the Spark job, and two single-page extractors, on the same pages in one run.

Times are of this machine at this hour; what holds elsewhere are the ratios.
"""

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from dbce_spark import store, tables, warc
from dbce_spark.charset import decode
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, classify, local, pages, pools, sites
from dbce_spark.errors import InputError, PlatformError
from dbce_spark.model import Page
from dbce_spark.records import Limits, Record, records
from dbce_spark.sources import open_binary

MAX_PAGES = 1000
"""Pages that are timed without Spark, the first of the input: trafilatura takes 20 seconds for as many."""

_ROUND = 50
_START_UP_CAPTURES = 1
_BATCH = 128

Extractor = Callable[[str], str | None]


class Stopwatch:
    """CPU seconds of this process, by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started

    def ms(self, names: Sequence[str], pages_: int) -> dict[str, float]:
        return {name: round(self.seconds[name] / pages_ * 1000, 3) for name in names}


def write(files: Sequence[str], target: str, config: DbceConfig) -> str:
    """Measures, writes the figures to `target` as JSON and returns them as text.

    Raises:
        InputError: no file holds a page.
        PlatformError: trafilatura or resiliparse is not installed.
    """
    peers = _peers()
    watch = Stopwatch()
    read = [page for fetches in _rounds(files, config, watch) for page in _timed_round(fetches, peers, config, watch)]
    if not read:
        raise InputError(f"no page in {len(files):,} files; name archives that hold some")
    _joint_stages(read, config, watch)
    stages = watch.ms([name for name in watch.seconds if name not in peers], len(read))
    spark = _spark(files, config)
    ms_per_page = {
        "dbce_local": round(sum(stages.values()), 3),
        "dbce_spark": spark["ms_per_page"],
        **watch.ms(list(peers), len(read)),
    }
    report = {
        "pages": len(read),
        "ms_per_page": ms_per_page,
        "ratio_to_trafilatura": {
            name: round(ms / ms_per_page["trafilatura"], 3) for name, ms in ms_per_page.items() if name != "trafilatura"
        },
        "stages": stages,
        "reader": _reader(files, config),
        "spark": spark,
    }
    with store.whole_file(target) as file:
        file.write(json.dumps(report, indent=2).encode() + b"\n")
    return _text(report, target)


def _reader(files: Sequence[str], config: DbceConfig) -> dict[str, float]:
    """CPU milliseconds a record to go through the files and read every block, ours and FastWARC's, the least of three
    rounds, over the gzip WARCs among them: FastWARC reads no ARC, and stops at damages."""
    from fastwarc.warc import ArchiveIterator

    limits = Limits.of(config.input)

    def ours(path: str) -> int:
        with open_binary(path) as stream:
            return sum(isinstance(one, Record) for one in records(stream, limits))

    def theirs(path: str) -> int:
        with open_binary(path) as stream:
            return sum(one.reader.read() is not None for one in ArchiveIterator(stream, parse_http=False))

    gzips = [path for path in files if path.endswith(".warc.gz")]
    best = {}
    for name, count_of in (("dbce", ours), ("fastwarc", theirs)):
        rounds = []
        for _ in range(3):
            started = time.process_time()
            count = sum(map(count_of, gzips))
            rounds.append((time.process_time() - started) / max(1, count) * 1000)
        best[name] = min(rounds)
    best["ratio"] = best["dbce"] / max(1e-9, best["fastwarc"])
    return {name: round(value, 4) for name, value in best.items()}


def _peers() -> dict[str, Extractor]:
    try:
        import fastwarc  # noqa: F401
        import psutil  # noqa: F401
        import trafilatura
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run: pip install 'dbce-spark[bench]'") from error
    return {
        "trafilatura": lambda html: trafilatura.extract(html, include_comments=False),
        "resiliparse": lambda html: extract_plain_text(html, main_content=True),
    }


def _rounds(files: Sequence[str], config: DbceConfig, watch: Stopwatch) -> Iterator[list[warc.Fetch]]:
    """The first MAX_PAGES captures, some at a time, so that whatever else the machine does hits every contender
    alike."""
    records = (record for path in files for record in warc.read(path, config.input, config.page.max_html_bytes))
    left = MAX_PAGES
    while left > 0:
        fetches: list[warc.Fetch] = []
        with watch.of("read"):
            for record in records:
                if isinstance(record, warc.Fetch):
                    fetches.append(record)
                if len(fetches) == min(_ROUND, left):
                    break
        if not fetches:
            return
        left -= len(fetches)
        yield fetches


def _timed_round(
    fetches: Sequence[warc.Fetch], peers: Mapping[str, Extractor], config: DbceConfig, watch: Stopwatch
) -> list[Page]:
    with watch.of("page"):
        parsed = pages.of_fetches(fetches, config)
    read = [page for page in parsed if isinstance(page, Page)]
    with watch.of("stage"):
        tables.pages_batch(read, [None] * len(read), file_no=0, first_row=0)
    # The peers are given text: decoding is not theirs to be timed for, and every one gets the same.
    htmls = [decode(fetch.html, fetch.capture.declared_charset).html.decode() for fetch in fetches]
    for name, extract in peers.items():
        with watch.of(name):
            for html in htmls:
                extract(html)
    return read


def _joint_stages(read: Sequence[Page], config: DbceConfig, watch: Stopwatch) -> None:
    unique = pages.unique(read)
    with watch.of("find"):
        found = sites.chosen(buckets.members(unique), config)
    with watch.of("annotate"):
        annotations = local.annotations([one.cross for one in found], unique, config)
    with watch.of("evidence"):
        evidence = pools.evidence(unique, config.bucket.cap, partial(classify.of, config.label.classifier))
    with watch.of("merge"):
        told = [evidence.get(page.capture_id, pools.told(page)) for page in unique]
        gathered = [
            local.gather(page, annotations[page.capture_id], of_page, "")
            for page, of_page in zip(unique, told, strict=True)
        ]
        merged = local.judge(gathered, config.label)
    with watch.of("rows"):
        for start in range(0, len(merged), _BATCH):
            some = merged[start : start + _BATCH]
            languages = local.languages(some, config.language)
            tables.extractions_batch(some, languages, [None] * len(some), config.output.site_parts)


def _spark(files: Sequence[str], config: DbceConfig) -> dict[str, Any]:
    """The whole job in local Spark: twice on one capture of each file, to warm up and to know what a run costs
    whatever its size, and once on all.

    `ms_per_page` is CPU, of Java and all Python workers, that the large run took beyond the small one;
    `wall_ms_per_page` the same by the clock, times cores.
    """
    from dbce_spark.spark.session import session

    spark = session("dbce bench")

    def run(some: Sequence[str], limit: int | None) -> dict[str, Any]:
        from dbce_spark.spark import job

        with tempfile.TemporaryDirectory() as folder:
            cpu = _cpu_of_children()
            request = job.Request(files=some, output=folder, with_html=False, limit=limit, started=time.monotonic())
            report = job.run(spark, request, config)
            return report | {"cpu_seconds": _cpu_of_children() - cpu, "wall_seconds": sum(report["seconds"].values())}

    run(files, _START_UP_CAPTURES)
    small, whole = run(files, _START_UP_CAPTURES), run(files, None)
    more_pages = max(1, int(whole["extractions"] - small["extractions"]))

    def ms(name: str, cores: int) -> float:
        beyond: float = (whole[name] - small[name]) * cores
        return round(beyond / float(more_pages) * 1000, 3)

    return {
        "ms_per_page": ms("cpu_seconds", 1),
        "wall_ms_per_page": ms("wall_seconds", whole["cores"]),
        "pages": whole["extractions"],
        "cores": whole["cores"],
        "seconds": whole["seconds"],
        "seconds_of_one_capture_a_file": small["seconds"],
    }


def _cpu_of_children() -> float:
    """CPU seconds of the processes below this one, those that ended among them: Java and its Python workers."""
    import psutil

    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return float(sum(one.user + one.system + one.children_user + one.children_system for one in times))


def _text(report: Mapping[str, Any], target: str) -> str:
    ratios = report["ratio_to_trafilatura"]
    counts = f"{report['pages']:,} pages without Spark, {report['spark']['pages']:,} with"
    lines = [f"{counts}; CPU ms a page"]
    lines += [f"  {name:12} {ms:8.2f}   x {ratios.get(name, 1.0):.2f}" for name, ms in report["ms_per_page"].items()]
    lines += ["of dbce_local:", *(f"  {name:12} {ms:8.2f}" for name, ms in report["stages"].items())]
    reader = report["reader"]
    lines.append(f"of a record: {reader['dbce']:.3f}, FastWARC {reader['fastwarc']:.3f}   x {reader['ratio']:.2f}")
    return "\n".join([*lines, f"written to {target}"])
