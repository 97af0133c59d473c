"""A page that an extractor hangs or crashes on is the only one it loses."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from dbce_spark.errors import PlatformError
from dbce_spark.evaluation.extracting.child_process import Child, Extracted
from tests.support import fake_extractors as fakes


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    started = Child(fakes.obedient, time_limit=60.0, memory_limit=1 << 28)
    yield started
    started.close()


def outcome(extracted: Extracted) -> tuple[str, str]:
    return extracted.text, extracted.error


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a page", ("en:a page", "")),
        ("NOTHING", ("", "")),
        ("RAISE", ("", "ValueError: no such thing")),
        ("HALF", ("", "ValueError: half a character: ?")),
        ("DIE", ("", "crash: the process ended with status 7")),
        ("ABORT", ("", "crash: the process ended with SIGABRT")),
        ("BURST", ("", "memory: more than 0.25 GiB")),
    ],
)
def test_whatever_happens_the_next_page_is_extracted(child: Child, html: str, expected: tuple[str, str]) -> None:
    """None, an exception, an exit, an abort, no memory: each is named, and the page behind it is well."""
    assert [expected, ("pl:next", "")] == [outcome(child.extract(html, "en")), outcome(child.extract("next", "pl"))]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the memory of a process")
def test_a_page_that_takes_too_much_memory_is_a_miss(child: Child) -> None:
    """1 GiB of a child that may have a quarter is not had, and the page behind it is well."""
    assert ("", "memory: more than 0.25 GiB") == outcome(child.extract("EAT", "en"))
    assert ("en:next", "") == outcome(child.extract("next", "en"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the memory of a process")
def test_what_an_extractor_takes_to_load_is_its_own() -> None:
    """The limit is on top of what a process has once it is loaded, so that a heavy one starts on any machine."""
    small = Child(fakes.obedient, time_limit=60.0, memory_limit=1 << 22)
    try:
        assert ("en:a page", "") == outcome(small.extract("a page", "en"))
    finally:
        small.close()


def test_seconds_are_of_the_clock_an_extractor_brings() -> None:
    """An extractor that works in another process reports the CPU that was spent there."""
    elsewhere = Child(fakes.Elsewhere, time_limit=60.0)
    try:
        assert 3600.0 == elsewhere.extract("a page", "en").seconds
    finally:
        elsewhere.close()


@pytest.mark.parametrize("html", ["a page", "HANG"])
def test_what_a_child_started_ends_with_it(html: str) -> None:
    """Closed or hung, a child leaves nothing running."""
    elsewhere = Child(fakes.Elsewhere, time_limit=3.0)
    try:
        number = int(elsewhere.extract("a page", "en").text)
        elsewhere.extract(html, "en")
    finally:
        elsewhere.close()
    assert ended(number)


def ended(number: int) -> bool:
    """Test whether a process is gone, or is a zombie that only waits to be collected."""
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False)
        if state.stdout.strip()[:1] in ("", "Z"):
            return True
        time.sleep(0.05)
    return False


def test_a_large_page_travels_whole(child: Child) -> None:
    """More than a pipe holds goes through it in both directions."""
    assert 5_000_003 == len(child.extract("x" * 5_000_000, "en").text)


def test_a_hang_costs_its_time_limit() -> None:
    """The time of a timeout is the limit, not the little CPU that was spent, and the page behind it is well."""
    hurried = Child(fakes.obedient, time_limit=3.0)
    try:
        assert Extracted("", 3.0, "timeout: no text after 3 s") == hurried.extract("HANG", "en")
        assert ("pl:next", "") == outcome(hurried.extract("next", "pl"))
    finally:
        hurried.close()


@pytest.mark.parametrize(("load", "message"), [(fakes.stillborn, "status 9"), (fakes.lacking, "nobody_has_this")])
def test_an_extractor_that_cannot_start_ends_the_run(load: object, message: str) -> None:
    """A fault that every page would meet is an error, not a thousand misses."""
    broken = Child(load, time_limit=1.0)  # type: ignore[arg-type]
    with pytest.raises(PlatformError, match=message):
        broken.extract("", "")
