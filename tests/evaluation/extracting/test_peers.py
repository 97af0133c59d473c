"""Every extractor of other people gives the text of a page, and names what it lacks."""

from configparser import ConfigParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbce_spark.errors import PlatformError
from dbce_spark.evaluation import node
from dbce_spark.evaluation.extracting import extractors, peers
from dbce_spark.evaluation.extracting.child_process import Child
from dbce_spark.evaluation.extracting.peers import PEERS
from tests.support.extractor_settings import setting
from tests.support.fake_extractors import own_set

ALL_TEXT = list(PEERS)[list(PEERS).index("lxml-cleaner") :]
"""Extractors that give all text."""


def story() -> str:
    """A page of one article between two menus."""
    stories = " ".join(fields["gold"] for fields in own_set())
    menu = "<div>" + "".join(f"<a href=/{n}>Link {n}</a> " for n in range(9)) + "</div>"
    text = f"<div><h1>Of the harbour</h1><p>{stories}</p><p>{stories}</p></div>"
    return f"<html><head><title>T</title></head><body>{menu}{text}{menu}</body></html>"


def needed(name: str) -> None:
    if lacking := PEERS[name].lacking():
        pytest.skip(lacking)


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_finds_a_story(name: str) -> None:
    """Each gives the text of a plain page as text, not as HTML; those that give all text give the menu too."""
    needed(name)
    child = Child(PEERS[name].load, time_limit=30.0)
    try:
        found = child.extract(story(), "en")
    finally:
        child.close()
    assert ("", True, False) == (found.error, "grey seal" in found.text, "<p>" in found.text)
    assert name not in ALL_TEXT or "Link 3" in found.text


@pytest.mark.parametrize("name", ["lxml", "lxml-cleaner", "xpath-text", "bte", "readability-js", "defuddle"])
@pytest.mark.parametrize("html", ["", "<!-- -->", "<p", "<script>x"])
def test_a_page_of_nothing_has_no_words(name: str, html: str) -> None:
    """Our own extractors take pages that no parser can read."""
    needed(name)
    child = Child(PEERS[name].load, time_limit=30.0)
    try:
        found = child.extract(html, "")
    finally:
        child.close()
    assert ("", "") == (found.error, found.text.strip())


def test_a_missing_package_is_named_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what to install."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(PlatformError, match=r"justext is not installed; run: pip install '\.\[justext\]'"):
        extractors.by_name(["justext"], setting())


def test_a_package_for_a_newer_python_is_not_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not advise an install that pip would refuse."""
    monkeypatch.setattr(peers, "sys", SimpleNamespace(version_info=(3, 11, 7)))
    with pytest.raises(PlatformError, match=r"trafipy needs Python 3\.12 or newer"):
        extractors.by_name(["trafipy"], setting())


def test_every_extra_that_is_advised_exists() -> None:
    """A command in an error message works as it stands."""
    setup = ConfigParser()
    setup.read("setup.cfg", encoding="utf-8")
    assert set() == {peer.extra for peer in PEERS.values()} - {"", *setup["options.extras_require"]}


def test_node_and_its_packages_are_named_when_they_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Node, with one that is too old, and without packages, each error has the next step."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "node is not installed; install Node 18 or newer" == node.lacking()
    with pytest.raises(PlatformError, match="npm is not installed"):
        node.install()
    program = tmp_path / "node"
    program.write_text("#!/bin/sh\necho v16.20.2\n")
    program.chmod(0o755)
    assert f"{program} is of version v16.20.2; install Node 18 or newer" == node.lacking()
    program.write_text("#!/bin/sh\necho v20.1.0\n")
    monkeypatch.setenv("DBCE_NODE_PACKAGES", str(tmp_path))
    assert (
        f"the packages of this version are not in {tmp_path}; run: python -m dbce_spark.evaluation.node"
        == node.lacking()
    )


def test_an_install_that_fails_leaves_nothing_that_looks_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After npm failed there is an error, and the packages are still missing."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 3\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DBCE_NODE_PACKAGES", str(tmp_path / "packages"))
    with pytest.raises(PlatformError, match=r"npm ci in .* ended with 3"):
        node.install()
    assert not (tmp_path / "packages" / "package-lock.json").exists()


def test_a_page_that_node_runs_out_of_memory_on_is_a_miss() -> None:
    """V8 ends its process; the page is named, and the next one is extracted."""
    needed("readability-js")
    child = Child(PEERS["readability-js"].load, time_limit=60.0, memory_limit=40 << 20)
    try:
        assert "memory: more than 0.0390625 GiB" == child.extract("<p>one <b>two</b></p>" * 200_000, "en").error
        assert "grey seal" in child.extract(story(), "en").text
    finally:
        child.close()


def test_the_seconds_of_an_extractor_in_node_are_those_of_node() -> None:
    """The process in between only waits, which costs nothing; a page costs Node something."""
    needed("readability-js")
    child = Child(PEERS["readability-js"].load, time_limit=60.0)
    try:
        assert child.extract(story() * 50, "en").seconds > 0.01
    finally:
        child.close()


def test_the_lock_file_names_no_registry() -> None:
    """Packages come from the registry that npm is configured for, and match their hashes."""
    lock = (Path(node.__file__).parent / "package-lock.json").read_text(encoding="utf-8")
    assert (0, 0) == (lock.count('"resolved"'), lock.count("://"))
    assert lock.count('"integrity"') == lock.count('    "node_modules/')
