"""Every extractor gives the text of every page, and says what it lacks."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from dbce_spark.errors import ConfigError, PlatformError
from dbce_spark.evaluation import extractors, peers
from dbce_spark.evaluation.extractors import Setting
from dbce_spark.evaluation.peers import PEERS
from tests.builders import CONFIG
from tests.evaluation import fakes
from tests.evaluation.fakes import gold_pages, line, own_set


def setting(workers: int = 1, advance: Callable[[int], object] = lambda _: None) -> Setting:
    return Setting(config=CONFIG, time_limit=2.0, workers=workers, advance=advance)


@pytest.mark.parametrize("workers", [1, 2])
def test_two_children_give_what_one_gives(workers: int, tmp_path: Path) -> None:
    """Each page has its own text however many processes share them, and the crash of one is its page's alone."""
    done: list[int] = []
    pages = gold_pages(tmp_path, [line(name, html) for name, html in zip("abcd", ["1", "DIE", "3", "4"], strict=True)])
    extracted = extractors.one_by_one(fakes.obedient, pages, setting(workers, done.append))
    assert {"a": ":1", "b": "", "c": ":3", "d": ":4"} == {name: one.text for name, one in extracted.items()}
    assert [1, 1, 1, 1] == done


def test_the_joint_method_sees_siblings(tmp_path: Path) -> None:
    """What all pages of the site have is gone, what one has is kept, and a page alone gets the fallback."""
    extracted = extractors.together(gold_pages(tmp_path, own_set()), setting())
    assert all("Tide tables" not in one.text and "rights reserved" not in one.text for one in extracted.values())
    assert "forty two storms" in extracted["story-1"].text
    assert "grey seal" in extracted["alone"].text


def test_a_page_without_a_word_is_a_miss_of_the_joint_method(tmp_path: Path) -> None:
    """A reject has no text, and its reason is the error."""
    pages = gold_pages(tmp_path, [line("a", "<script>1</script>"), line("b")])
    extracted = extractors.together(pages, setting())
    assert "no_text: no word outside scripts, styles and forms" == extracted["a"].error
    assert "" == extracted["b"].error


def test_the_same_page_twice_has_its_text_twice(tmp_path: Path) -> None:
    """Two pages of one URL, time and HTML are one capture to the method, but two pages to the harness."""
    lines = [{**own_set()[0], "id": name} for name in ("a", "b")]
    extracted = extractors.together(gold_pages(tmp_path, lines), setting())
    assert extracted["a"].text == extracted["b"].text != ""


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    """A slip in --extractors ends the run before it begins."""
    with pytest.raises(ConfigError, match=r"trafilatur: not known; known are dbce, .*trafilatura"):
        extractors.by_name(["trafilatur"], setting())
    with pytest.raises(ConfigError, match="names none"):
        extractors.by_name([], setting())


def test_a_missing_package_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(PlatformError, match=r"justext is not installed; run: pip install 'dbce-spark\[evaluate\]'"):
        extractors.by_name(["justext"], setting())


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.filterwarnings("default")
def test_every_peer_finds_a_story(name: str) -> None:
    """Loaded here, each gives the text of a plain page as text, not as HTML."""
    if find_spec(PEERS[name].package) is None:
        pytest.skip(f"{PEERS[name].package} is not installed")
    stories = " ".join(fields["gold"] for fields in own_set())
    menu = "<div>" + "".join(f"<a href=/{n}>Link {n}</a> " for n in range(9)) + "</div>"
    story = f"<div><h1>Of the harbour</h1><p>{stories}</p><p>{stories}</p></div>"
    html = f"<html><head><title>T</title></head><body>{menu}{story}{menu}</body></html>"
    text = PEERS[name].load()(html, "en") or ""
    assert (True, False) == ("grey seal" in text, "<p>" in text)
