"""Decide by robots.txt, its text and its status, whether a URL may be fetched."""

import pytest

from dbce_spark.streaming.feeds.robots import Robots, RobotsCache, origin, token
from tests.support.builders import config

URL = "http://www.example.org/news/a.html"
AGENT = "dbce-acquire/0.1 (+https://example.org/us)"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 299), (True, False)),
        ((400, 403, 404, 428, 430, 499), (True, True)),
        ((0, 199, 300, 399, 429, 500, 503), (False, False)),
    ],
    ids=["read", "none", "unread"],
)
def test_how_it_was_answered_decides(statuses: tuple[int, ...], expected: tuple[bool, bool]) -> None:
    """A host without robots.txt allows all; one that could not be read now forbids all (RFC 9309, 2.3.1)."""
    for status in statuses:
        found = Robots.from_answer(status, b"User-agent: *\nDisallow: /private", 0.0)

        assert expected == (found.allows(URL, AGENT), found.allows("http://www.example.org/private", AGENT))


@pytest.mark.parametrize(
    ("text", "is_allowed"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /news/", False),
        ("User-agent: *\nDisallow: /*.html$", False),
        ("User-agent: *\nDisallow: /news/\nAllow: /news/a", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: DBCE-Acquire\nDisallow: /other/", True),
        ("User-agent: dbce-acquire\nDisallow: /", False),
        ("User-agent: somebody-else\nDisallow: /", True),
        ("\ufeff\0 no rules at all", True),
        ("\ufeffUser-agent: *\nDisallow: /", False),
    ],
)
def test_rules_are_those_of_the_standard(text: str, is_allowed: bool) -> None:
    """Wild cards, the longest rule, and the group that names this program before that of all programs are applied."""
    assert is_allowed == Robots.from_answer(200, text.encode(), 0.0).allows(URL, AGENT)


@pytest.mark.parametrize("line", ["user-agent: {}\r", "\x0c User  Agent {}\n", "useragent:{}\x85"])
def test_rules_for_too_many_programs_are_not_read(line: str) -> None:
    """The parser keeps each rule for each program of its group, so that many of both take all memory. Nothing is
    allowed then; as many as a large site has are read."""
    found = []
    for programs in (100, 1_500):
        text = "".join(map(line.format, range(programs))) + "Allow: /a\n" * programs
        found.append(Robots.from_answer(200, f"{text}User-agent: *\nDisallow: /x".encode(), 0.0))

    assert [True, False] == [one.allows(URL, AGENT) for one in found]
    assert ["", "too many programs for its rules"] == [one.lack for one in found]


def test_rules_are_known_for_as_long_as_they_hold_and_not_of_too_many_origins() -> None:
    """The first to be read leave first; ones that could not be read are read again soon."""
    known = RobotsCache(config("acquire.robots_seconds=60", "acquire.first_wait_seconds=2").acquire)
    text = b"# " + b"-" * (1 << 20)
    known.keep("none", Robots.from_answer(503, b"", 0.0), 0.0)
    known.keep("read", Robots.from_answer(200, text, 0.0), 0.0)
    found = [[known.get(name, now) is not None for name in ("none", "read")] for now in (2.0, 60.0, 60.1)]
    for nth in range(40):
        known.keep(str(nth), Robots.from_answer(200, text, 60.0), 60.0)

    assert [[True, True], [False, True], [False, False]] == found
    assert known.get("read", 60.0) is None
    assert [*range(9, 40)] == [nth for nth in range(40) if known.get(str(nth), 60.0) is not None]


@pytest.mark.parametrize(("text", "seconds"), [("Crawl-delay: 2.5", 2.5), ("Crawl-delay: -1", 0.0), ("", 0.0)])
def test_the_pause_that_it_asks_for(text: str, seconds: float) -> None:
    """The delay is never negative."""
    assert seconds == Robots.from_answer(200, f"User-agent: *\n{text}\n".encode(), 0.0).delay(AGENT)


def test_it_speaks_of_scheme_host_and_port() -> None:
    """The user agent is named by its first word, without version; a user in the URL does not count."""
    assert "https://example.org:8443" == origin("HTTPS://me@Example.org:8443/a?b")
    assert "dbce-acquire" == token(AGENT)
