"""Runs on a real standalone cluster that loses executors, Python workers, whole workers and links, by real kills.

Where in its work a run is hit is no matter of luck: the first Python worker that has results in a stage stops, and
waits for what is done to it or to those around it (`traps`).
"""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pyarrow.dataset as ds
import pytest

from dbce_spark import config
from dbce_spark.files import sources
from dbce_spark.spark.jobs import local_job
from dbce_spark.spark.run.run_request import RunRequest
from tests.support import worker_traps
from tests.support.builders import archive as archive_file
from tests.support.builders import http, record
from tests.support.cluster import Cluster, Run, cluster, kill_all
from tests.support.revisit_archive import revisit
from tests.support.run_endings import tables_below

pytestmark = pytest.mark.spark

STAGES = (*"pages originals revisits sites crosses evidence annotations extractions duplicates captures".split(),)
"""All in which Python works, but that which reads an index."""
FAULTS = {
    "python": "Python worker exited unexpectedly",
    "executor": "Lost executor",
    "worker": "Lost executor",
    "link": "Lost executor",
}
"""What may be lost, and what Spark says then for each loss."""
PAGES_OF_SITE = (12, 18)
SETTINGS = ("language.detect=false", "output.site_parts=5", "bucket.whole_site_bytes=80000")
"""The first site is looked at whole, the second, with half as many pages again, bucket by bucket; their rows lie in
different parts."""
WORDS = "one night in May the river rose and took with it what the town had built beside the old mill".split()


def page(site: int, nth: int, crawl: int) -> bytes:
    """A page that has siblings on its site and another version in the other crawl."""
    text = "".join(
        f"<p>{' '.join(WORDS[(nth * 7 + at * 3 + line) % 20] for at in range(30))}.</p>" for line in range(4)
    )
    menu = "".join(f"<li><a href=/{name}>{name} of site {site}</a></li>" for name in ("news", "sports", "weather"))
    return http(
        f"<title>Page {nth}</title><ul>{menu}</ul><h1>The {WORDS[nth]} {nth}</h1>{text}"
        f"<div>Seen {crawl} times</div><table><tr><td>Site {site}: all rights reserved</td></tr></table>"
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Five files: two sites, crawled twice, and a revisit of one page of the second site."""
    folder = tmp_path_factory.mktemp("archive")
    for site, of_site in enumerate(PAGES_OF_SITE):
        for crawl in (1, 2):
            records = (
                record(page(site, nth, crawl), url=url(site, nth), date=f"2020-0{crawl}-02T03:04:05Z")
                for nth in range(of_site)
            )
            archive_file(folder / f"{site}-{crawl}.warc", *records)
    again = revisit(
        url(1, 3),
        "2020-03-02T03:04:05Z",
        WARC_Refers_To_Target_URI=url(1, 3),
        WARC_Refers_To_Date="2020-02-02T03:04:05Z",
    )
    archive_file(folder / "1-3.warc", again)
    return sources.expand([str(folder)], config.load().input.patterns)


DEADLY = "http://www.example0.org/deadly"


def url(site: int, nth: int) -> str:
    return f"http://www.example{site}.org/page-{nth}"


@pytest.fixture(scope="module")
def small_site(archive: list[str]) -> list[str]:
    """The files of the first site, for tests of every day: a run over them has fewer stages."""
    return archive[:2]


@pytest.fixture(scope="module")
def undisturbed(archive: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The output of a run over both sites that nothing disturbs."""
    return undisturbed_run(archive, tmp_path_factory.mktemp("undisturbed"))


def undisturbed_run(files: list[str], output: Path) -> dict[str, bytes]:
    """All files that a run without Spark writes: test_local_job.py holds it to the bytes of one with Spark."""
    request = RunRequest(files=files, output=str(output), with_html=False, limit=None, started=time.monotonic())
    report = local_job.run(request, config.load(settings=SETTINGS))

    assert report["crossed"] == report["extractions"], report
    return tables_below(output)


@pytest.fixture(scope="module")
def sparks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers."""
    if sys.platform != "linux":
        pytest.skip("a cluster on one machine needs several addresses of its own, as Linux has them")
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def submit(sparks: Cluster, archive: list[str], folder: Path, **set_traps: str) -> Run:
    """The main job, which writes into folder/out."""
    sparks.heal()
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    return sparks.submit([*archive, "--output", str(folder / "out"), *settings], folder, set_traps)


@dataclass
class Losses:
    """The processes that a run loses, and how often Spark has noticed."""

    sparks: Cluster
    run: Run

    def count(self, fault: str) -> int:
        return self.run.log_text().count(FAULTS[fault])

    def lose(self, fault: str, stage: str) -> None:
        """Hits a run in the midst of a stage, and waits until it is noticed."""
        before = self.count(fault)
        stopped = self.run.stopped_in(stage)
        host = self.sparks.worker_of(stopped)
        if fault == "python":
            stopped.kill()
        elif fault == "executor":
            stopped.parents()[1].kill()
        elif fault == "worker":
            kill_all(self.sparks.daemons[host.address])
        else:
            self.sparks.network.cut(host)
        if fault in ("executor", "link"):
            # What is left of a task that is tried elsewhere by now goes on, and finds nobody to take its results.
            with suppress(psutil.NoSuchProcess):
                stopped.send_signal(signal.SIGCONT)
        self.run.wait_for(lambda: self.count(fault) > before)


@dataclass
class Lossy:
    """A run that has lost parts of its cluster, and the files of one over the same pages that has not."""

    run: Run
    output: Path
    undisturbed: dict[str, bytes]


@pytest.fixture(scope="module")
def lossy(
    sparks: Cluster,
    small_site: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Lossy:
    """An executor is killed while it reads, a whole worker while it compares pages, a Python worker while it merges;
    and whatever process parses one page is killed.

    The parsing of that page is replaced by the kill itself (`worker_traps.DEADLY`), the only thing here that is not
    real. It is in a file of its own behind all others.
    """
    folder, stages = tmp_path_factory.mktemp("lossy"), ("pages", "sites", "extractions")
    undisturbed = undisturbed_run(small_site, tmp_path_factory.mktemp("undisturbed"))
    deadly = archive_file(folder / "9.warc", record(page(0, 5, 3), url=DEADLY, date="2020-03-02T03:04:05Z"))
    traps = {worker_traps.STOP_IN: ",".join(stages), worker_traps.DEADLY: "/deadly"}
    run = submit(sparks, [*small_site, deadly], folder, **traps)
    losses = Losses(sparks, run)
    for fault, stage in zip(("executor", "worker", "python"), stages, strict=True):
        losses.lose(fault, stage)
    assert run.status() == 0, run.log_text()
    return Lossy(run, folder / "out", undisturbed)


def test_a_record_that_kills_its_worker_is_a_reject(lossy: Lossy) -> None:
    """On whichever worker, the run goes on without that page."""
    rejects = ds.dataset(lossy.output / "rejects").to_table(columns=["url", "reason"]).to_pylist()

    assert FAULTS["python"] in lossy.run.log_text()
    assert [{"url": DEADLY, "reason": "killed_worker"}] == rejects


def test_the_rows_are_the_same_whatever_is_lost(lossy: Lossy) -> None:
    """All files but the one with that reject have the bytes of a run that nothing has disturbed."""
    assert {name: content for name, content in lossy.undisturbed.items() if not name.startswith("rejects/")} == {
        name: content for name, content in tables_below(lossy.output).items() if not name.startswith("rejects/")
    }


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS)
def test_every_stage_bears_every_loss(
    sparks: Cluster, archive: list[str], undisturbed: dict[str, bytes], tmp_path: Path, fault: str
) -> None:
    """A run loses one of a kind in the midst of each of its stages, and where that is a whole host the other ends the
    stage alone: all files have the bytes of a run that nothing has disturbed."""
    if fault == "link" and not sparks.network.is_apart:
        pytest.skip("hosts that can be cut off need network namespaces: root and iproute2 on Linux")
    run = submit(sparks, archive, tmp_path, **{worker_traps.STOP_IN: ",".join(STAGES)})
    losses = Losses(sparks, run)
    for stage in STAGES:
        losses.lose(fault, stage)
        run.wait_for(partial(run.has_ended, stage))
        sparks.heal()

    assert run.status() == 0, run.log_text()
    assert undisturbed == tables_below(tmp_path / "out")
