"""The report on a crawl of a collection finds nothing in ordinary crawls, and one thing in each odd one."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.commands.cli import main
from dbce_spark.config import default, load
from dbce_spark.dbce import local
from dbce_spark.output.collection import RUNS, Collection, Increment
from dbce_spark.output.history import crawl_anomalies
from dbce_spark.report import crawl_figures, crawl_report, template_likeness
from tests.support import plain_tables, sample_collection
from tests.support import report_crawls as crawls
from tests.support.full_disks import full_disk
from tests.support.report_outputs import tree

CONFIG = default().comparison
PARAMETERS = load(settings=["language.detect=false", "duplicates.find=false", "output.site_parts=2"])


def grown(folder: Path, files: Iterable[str]) -> Collection:
    return Collection(str(sample_collection.grow(folder / "collection", [[path] for path in files], PARAMETERS)))


def reported(of: Collection, version: int | None = None) -> crawl_report.CrawlComparison:
    return crawl_report.compare(of, of.current() if version is None else of.version(version), CONFIG)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write three crawls of sites that publish, edit and take back pages, as sites do."""
    folder = tmp_path_factory.mktemp("crawls")
    return [crawls.write(folder / name, number) for number, name in enumerate("abc")]


@pytest.fixture(scope="module")
def ordinary(written: list[str], tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Extend a collection by the first two crawls."""
    return grown(tmp_path_factory.mktemp("ordinary"), written[:2])


@pytest.fixture(scope="module")
def redesigned(written: list[str], tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Extend a collection by two crawls between which one of two sites got another design."""
    return grown(tmp_path_factory.mktemp("redesigned"), written[1:])


def test_an_ordinary_crawl_is_not_odd(ordinary: Collection) -> None:
    """An ordinary crawl has no findings."""
    found = reported(ordinary)

    assert [] == [*found.findings]
    assert "version 2: nothing odd in increment 2 beside 1: " in crawl_report.text(found)


def test_differences_within_the_thresholds_are_not_called_none(ordinary: Collection, tmp_path: Path) -> None:
    """The lines and the page name each threshold, as the configuration has it."""
    found = crawl_report.compare(ordinary, ordinary.current(), replace(CONFIG, share=0.2, captures=4.5))
    crawl_report.write(found, ordinary.folder, str(tmp_path / "page.html"))
    within = (
        "what differs lies within the thresholds, or is what chance does with so few pages. Shares change by less than"
        " 20 points (25 on a site), captures by a factor under 4.5 (5 on a site); refused are less than 5 points more,"
        " failed files less than 1; odd sites, lost sites and lost templates have less than 1 % of the captures"
    )

    assert found.before
    assert found.before.captures != found.now.captures
    assert within in crawl_report.text(found)
    assert within in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (crawls.soft_404, crawl_anomalies.SHORT, "More captures have hardly any main text"),
        (crawls.blocked, crawl_anomalies.REJECTS, "records refused as HTTP 403"),
        (crawls.without_diary, crawl_anomalies.SITES, "dnevnik.example: had"),
    ],
)
def test_a_crawl_with_something_wrong_is_odd(
    written: list[str], tmp_path: Path, change: crawls.Change, kind: str, message: str
) -> None:
    """A crawl with one thing wrong has that finding alone."""
    to = grown(tmp_path, [written[0], crawls.write(tmp_path / "b", 1, change)])
    found = reported(to)

    assert [kind] == [one.kind for one in found.findings]
    assert message in crawl_report.text(found)


def test_a_redesign_is_odd(redesigned: Collection) -> None:
    """The finding names the template that is gone, with its site."""
    found = reported(redesigned)

    assert [crawl_anomalies.TEMPLATES] == [one.kind for one in found.findings]
    assert f"{crawls.DIARY}, template " in crawl_report.text(found)


def test_a_template_under_another_name_is_not_lost(ordinary: Collection, redesigned: Collection) -> None:
    """Pages built like a template belong to it, whatever its id is."""
    lost = {}
    for of in (ordinary, redesigned):
        version = of.current()
        both = crawl_figures.crawls(of, version)
        assert both.before
        was = crawl_figures.figures(both.before, CONFIG)
        large = [name for name, captures in was.templates.items() if captures >= CONFIG.least]
        found = template_likeness.lost_templates(large, both, was, CONFIG.remains)
        lost[of.folder] = [site for site, _ in found]
        assert {crawls.GAZETTE, crawls.DIARY} == {site for site, _ in large}

    assert {ordinary.folder: [], redesigned.folder: [crawls.DIARY]} == lost


def test_figures_are_of_what_the_crawl_fetched(ordinary: Collection, written: list[str]) -> None:
    """Figures count new pages and unchanged pages by their revisits, each as often as it was fetched, and no page that
    was only labelled again."""
    result = local.extract(written[:2], PARAMETERS)
    own = {one.page.capture_id: one for one in result.extractions}
    fetched = [one for one in own.values() if "/b/" in one.page.capture.warc_file]
    revisited = [own[one.original_id] for one in result.revisits]
    both = crawl_figures.crawls(ordinary, ordinary.current())
    assert both.before
    before, now = (crawl_figures.figures(one, CONFIG) for one in (both.before, both.now))
    extracted = plain_tables.extractions(result, PARAMETERS).to_pylist()
    words = {row["capture_id"]: row["words"] for row in extracted}

    assert revisited
    assert len(own) - len(fetched) == before.captures
    assert len(fetched) + len(revisited) == now.captures
    assert sum(words[one.page.capture_id] for one in [*fetched, *revisited]) == now.total.words
    assert {crawls.GAZETTE, crawls.DIARY} == {*now.sites}


def test_a_crawl_that_came_twice_is_reported_and_passed_over(written: list[str], tmp_path: Path) -> None:
    """A repeated crawl brings nothing; the next crawl is compared with the one before it."""
    first, later, _ = written
    to = grown(tmp_path, [first, str(shutil.copy(first, tmp_path / "copy.warc.gz")), later])
    second, third = reported(to, 2), reported(to)

    assert [(crawl_anomalies.EMPTY, True)] == [
        (one.kind, "; 58 captures had come before" in one.message) for one in second.findings
    ]
    assert third.before
    assert (1, []) == (third.before.number, [*third.findings])


def test_a_first_crawl_is_compared_with_none(ordinary: Collection, tmp_path: Path) -> None:
    """The report on a first crawl explains that there is none before it, and shows its figures."""
    found = reported(ordinary, 1)
    crawl_report.write(found, ordinary.folder, str(tmp_path / "page.html"))

    assert "no crawl before increment 1 brought anything" in crawl_report.text(found)
    assert "Nothing is compared: no crawl before increment 1 brought anything" in (tmp_path / "page.html").read_text()


def test_crawls_that_were_put_together_are_not_made_up(
    written: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compacted crawls are compared while their increments lie there. After a vacuum the report names the missing
    crawl: the last one, and the one before the next."""
    to = grown(tmp_path, written)
    last = to.current()
    put_together(to, last.increments)
    still_there = crawl_report.text(reported(to))
    put_together(to, last.increments[:2], last.increments[2])
    for number in (1, 2):
        shutil.rmtree(to.increment(number))
    next_one = crawl_report.text(reported(to))
    shutil.rmtree(to.increment(3))
    printed = main(["collection", "report", to.folder, "--version", "4"]), capsys.readouterr().err

    assert "version 4: 1 thing odd in increment 3 beside 2" in still_there
    assert 2 == printed[0]
    assert "crawl 3 was compacted and then vacuumed" in printed[1]
    assert "version 5: crawl 2, the one before, was put together with others" in next_one


def put_together(of: Collection, some: Sequence[Increment], *later: Increment) -> None:
    """Commit a version whose first increment joins several, as after a compaction: only their run.json files are
    kept."""
    version = of.current()
    number = version.number + 1
    runs = Path(of.increment(number), RUNS)
    runs.mkdir(parents=True)
    for one in some:
        shutil.copy(Path(of.increment(one.number), "run.json"), runs / f"{one.number:08}.json")
    of.commit(replace(version, number=number, increments=(replace(some[0], number=number), *later)))


def test_the_page_says_it_and_asks_for_nothing(redesigned: Collection, tmp_path: Path) -> None:
    """The page shows the findings; it has no script, loads nothing, and is the same at every run."""
    for name in ("one.html", "two.html"):
        crawl_report.write(reported(redesigned), redesigned.folder, str(tmp_path / name))
    page = tree((tmp_path / "one.html").read_bytes())
    seen = " ".join(page.find("body").text_content().split())

    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert "templates lost" in seen
    cells = page.xpath("//tr[td/bdi[.=$site]]/td/text()", site=crawls.GAZETTE)
    assert ["27", "34"] == cells[:2]
    assert [] == page.xpath("//script | //link | //img | //iframe | //@src")
    assert "default-src 'none'" in page.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")


def test_the_command(redesigned: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`dbce collection report` prints the findings, writes the page to a given file, and accepts other thresholds."""
    (tmp_path / "lax.toml").write_text("[comparison]\nleast = 1_000\n")
    page = tmp_path / "page.html"
    printed = []
    for options in (["--output", str(page)], ["--config", str(tmp_path / "lax.toml")], ["--version", "1"]):
        assert main(["collection", "report", redesigned.folder, *options]) == 0
        printed.append(capsys.readouterr().out)

    assert "1 thing odd in increment 2 beside 1" in printed[0]
    assert "nothing odd" in printed[1]
    assert "no crawl before" in printed[2]
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_page_that_cannot_be_written_says_what_to_do(
    redesigned: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder is named with a file in it, and a full disk asks for room."""
    command = ["collection", "report", redesigned.folder, "--output"]
    assert main([*command, str(tmp_path)]) == 2
    assert f"{tmp_path}: is a folder; give a file such as {tmp_path}/report.html" in capsys.readouterr().err
    with full_disk(1000):
        assert main([*command, str(tmp_path / "page.html")]) == 2

    assert "; make room, and give the same command again" in capsys.readouterr().err
    assert [] == [*tmp_path.iterdir()]
