"""Every extractor gives the text of every page, and names what it lacks."""

import dataclasses
from pathlib import Path

import pytest

from dbce_spark.errors import ConfigError, PlatformError
from dbce_spark.evaluation.extracting import extractors, joint_extractors
from dbce_spark.evaluation.extracting.extractors import OneByOne
from tests.support import fake_extractors as fakes
from tests.support.extractor_settings import setting
from tests.support.fake_extractors import gold_pages, line, own_set


@pytest.mark.parametrize("workers", [1, 2])
def test_two_children_give_what_one_gives(workers: int, tmp_path: Path) -> None:
    """Each page has its own text however many processes share them, and the crash of one is its page's alone."""
    done: list[int] = []
    pages = gold_pages(tmp_path, [line(name, html) for name, html in zip("abcd", ["1", "DIE", "3", "4"], strict=True)])
    extracted = extractors.run({"one": OneByOne(fakes.obedient, setting(workers, done.append))}, {"one": pages})
    assert {"a": ":1", "b": "", "c": ":3", "d": ":4"} == {name: one.text for name, one in extracted["one"].items()}
    assert [1, 1, 1, 1] == done


def test_a_slow_extractor_holds_one_worker_while_others_are_done(tmp_path: Path) -> None:
    """One hangs on every page and stands first, yet the other has all of its texts before it ends."""
    order: list[str] = []

    def reporting(name: str) -> OneByOne:
        noting = setting(2, lambda _: order.append(name))
        return OneByOne(fakes.obedient, dataclasses.replace(noting, time_limit=1.0))

    hanging = gold_pages(tmp_path, [line(name, "HANG") for name in "ab"])
    quick = gold_pages(tmp_path, [line(name, name) for name in "efgh"])
    done = extractors.run({name: reporting(name) for name in ("slow", "fast")}, {"slow": hanging, "fast": quick})
    assert (["fast"] * 4, "slow") == ([name for name in order[:-1] if name == "fast"], order[-1])
    assert {"timeout: no text after 1 s"} == {one.error for one in done["slow"].values()}
    assert [":e", ":f", ":g", ":h"] == [done["fast"][name].text for name in "efgh"]


def test_joint_methods_and_others_run_on_the_pages_that_each_is_given(tmp_path: Path) -> None:
    """The texts of each are under its name, in the order of the names."""
    chosen = extractors.by_name(["lxml", "dbce", "bte"], setting())
    pages = gold_pages(tmp_path, own_set())
    done = extractors.run(chosen, {"lxml": pages[:1], "dbce": pages, "bte": []})
    assert {"lxml": 1, "dbce": 5, "bte": 0} == {name: len(texts) for name, texts in done.items()}
    assert ["lxml", "dbce", "bte"] == list(done)


def test_an_extractor_that_cannot_start_ends_the_others(tmp_path: Path) -> None:
    """The error is not kept until hours of other work are done."""
    done: list[int] = []
    pages = gold_pages(tmp_path, [line(f"page-{number}", "HANG") for number in range(50)])
    work = {
        "broken": OneByOne(fakes.lacking, setting(2)),
        "slow": OneByOne(fakes.obedient, setting(2, done.append)),
    }
    with pytest.raises(PlatformError, match="nobody_has_this"):
        extractors.run(work, dict.fromkeys(work, pages))
    assert len(done) < 50


def test_the_joint_method_sees_siblings(tmp_path: Path) -> None:
    """Text on all pages of the site is gone, text on one is kept, and a page without siblings gets the fallback."""
    extracted = joint_extractors.together(gold_pages(tmp_path, own_set()), setting(), content="article")
    assert all("Tide tables" not in one.text and "rights reserved" not in one.text for one in extracted.values())
    assert "forty two storms" in extracted["story-1"].text
    assert "grey seal" in extracted["alone"].text


def test_a_page_without_a_word_is_a_miss_of_the_joint_method(tmp_path: Path) -> None:
    """A reject has no text, and its reason is the error."""
    pages = gold_pages(tmp_path, [line("a", "<script>1</script>"), line("b")])
    extracted = joint_extractors.together(pages, setting())
    assert "no_text: no word outside scripts, styles and forms" == extracted["a"].error
    assert "" == extracted["b"].error


def test_the_same_page_twice_has_its_text_twice(tmp_path: Path) -> None:
    """Two pages of one URL, time and HTML are one capture to the method, but two pages to an evaluation."""
    lines = [{**own_set()[0], "id": name} for name in ("a", "b")]
    extracted = joint_extractors.together(gold_pages(tmp_path, lines), setting())
    assert extracted["a"].text == extracted["b"].text != ""


def test_an_unknown_name_is_refused_with_the_available_ones() -> None:
    """A slip in --extractors ends the run before it begins."""
    with pytest.raises(ConfigError, match=r"trafilatur: not known; known are dbce, .*trafilatura"):
        extractors.by_name(["trafilatur"], setting())
    with pytest.raises(ConfigError, match="--extractors is empty"):
        extractors.by_name([], setting())
