"""A page that an extractor hangs or crashes on is lost to it alone."""

from collections.abc import Iterator

import pytest

from dbce_spark.errors import PlatformError
from dbce_spark.evaluation.child import Child, Extracted
from tests.evaluation import fakes


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    started = Child(fakes.obedient, time_limit=1.0)
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
        ("HANG", ("", "timeout: no text after 1 s")),
        ("DIE", ("", "crash: the process ended with status 7")),
        ("ABORT", ("", "crash: the process ended with SIGABRT")),
    ],
)
def test_whatever_happens_the_next_page_is_extracted(child: Child, html: str, expected: tuple[str, str]) -> None:
    """None, an exception, a hang, an exit and an abort are named, and the page behind them is well."""
    assert [expected, ("pl:next", "")] == [outcome(child.extract(html, "en")), outcome(child.extract("next", "pl"))]


def test_a_large_page_travels_whole(child: Child) -> None:
    """More than a pipe holds goes through it in both directions."""
    assert 5_000_003 == len(child.extract("x" * 5_000_000, "en").text)


def test_a_hang_costs_its_time_limit(child: Child) -> None:
    """The time of a timeout is the limit, not the little CPU that was spent."""
    assert 1.0 == child.extract("HANG", "en").seconds


@pytest.mark.parametrize(("load", "told"), [(fakes.stillborn, "status 9"), (fakes.lacking, "nobody_has_this")])
def test_an_extractor_that_cannot_start_ends_the_run(load: object, told: str) -> None:
    """What would fail on every page is an error, not a thousand misses."""
    broken = Child(load, time_limit=1.0)  # type: ignore[arg-type]
    with pytest.raises(PlatformError, match=told):
        broken.extract("", "")
