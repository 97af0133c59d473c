"""Start and stop `dbce acquire` as a person does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbce_spark.archive import warc
from dbce_spark.commands.cli import main
from tests.support.builders import read
from tests.support.newsroom import Newsroom, item, newsroom

ROOT = Path(__file__).parents[2]
PATIENCE = 60
QUICK = ("acquire.delay_seconds=0", "acquire.poll_seconds=0.05", "acquire.private_addresses=true")


@pytest.fixture
def room() -> Iterator[Newsroom]:
    with newsroom() as opened:
        yield opened


def arguments(feed: str, folder: Path, *options: str) -> list[str]:
    settings = [text for setting in QUICK for text in ("--set", setting)]
    return ["acquire", feed, "--output", str(folder / "warcs"), "--state", str(folder / "state"), *settings, *options]


def started(feed: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Start the command in a process of its own, which runs until it is stopped."""
    return subprocess.Popen(
        [sys.executable, "-m", "dbce_spark.commands.cli", *arguments(feed, folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def urls(folder: Path) -> list[str]:
    files = sorted((folder / "warcs").glob("*.warc.gz"))
    return [one.capture.url for file in files for one in read(file) if isinstance(one, warc.Fetch)]


def test_one_round_says_what_it_did(room: Newsroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--once polls what is due, fetches it and ends with a line of figures."""
    room.article("/a", "Of a")
    room.publish("/rss", item(f"{room.url}/a", "A"))
    (tmp_path / "feeds.txt").write_text(f"# of today\n\n{room.url}/rss\n", encoding="utf-8")
    status = main(arguments(f"@{tmp_path / 'feeds.txt'}", tmp_path, "--once"))

    assert 0 == status
    assert "1 poll, 1 item, 1 page, 1 file\n" == capsys.readouterr().out
    assert [f"{room.url}/a"] == urls(tmp_path)


def of_list(folder: Path, *words: str) -> list[str]:
    """The command without a feed, for pages that a list names."""
    command, _, *rest = arguments("", folder)
    return [command, *rest, *words]


def test_pages_of_a_list_are_fetched_each_once(room: Newsroom, tmp_path: Path) -> None:
    """It ends by itself; given again with more of them, it fetches those that are new. A part is its page."""
    for path in "abc":
        room.article(f"/{path}", f"Of {path}")
    (tmp_path / "urls.txt").write_text(f"# ours\n{room.url}/a\n{room.url}/b\n", encoding="utf-8")

    assert 0 == main(of_list(tmp_path, "--page-urls", f"@{tmp_path / 'urls.txt'}", f"{room.url}/a#b"))
    assert 0 == main(of_list(tmp_path, "--page-urls", f"@{tmp_path / 'urls.txt'}", f"{room.url}/c"))
    assert [f"{room.url}/{path}" for path in "abc"] == urls(tmp_path)
    assert ["/a", "/b", "/c"] == [path for path in room.paths() if path != "/robots.txt"]


def test_pages_that_searches_find_are_fetched(room: Newsroom, tmp_path: Path) -> None:
    """Each set of seed words is one search; a page that two of them find is fetched once."""
    (tmp_path / "words.txt").write_text("goose\npond\nold mill\n", encoding="utf-8")
    for path in "ab":
        room.article(f"/{path}", f"Of {path}")
    room.publish("/search?q=goose+%22old+mill%22", item(f"{room.url}/a", "A"))
    room.publish("/search?q=goose+pond", item(f"{room.url}/a", "A"), item(f"{room.url}/b", "B"))
    room.publish("/search?q=%22old+mill%22+pond", item(f"{room.url}/b", "B"))
    search = ("--search", f"{room.url}/search?q={{words}}", "--seed-words", f"@{tmp_path / 'words.txt'}")

    assert 0 == main(of_list(tmp_path, *search, "--once", "--set", "acquire.words_a_search=2"))
    assert [f"{room.url}/a", f"{room.url}/b"] == sorted(urls(tmp_path))
    assert 3 == sum(path.startswith("/search?") for path in room.paths())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--search", "http://a.example/?q={words}"], "--search and --seed-words belong together"),
        (["--seed-words", "goose"], "--search and --seed-words belong together"),
        (["--search", "http://a.example/?q=", "--seed-words", "a", "b", "c"], "write {words} where the words belong"),
        (
            ["--search", "http://a.example/?q={words}", "--seed-words", "a", "b", "a"],
            "2 different seed words are too few",
        ),
        (["--search", "a.example/?q={words}", "--seed-words", "a", "b", "c"], "a.example/?q=a+b+c: is no URL"),
    ],
)
def test_a_search_that_cannot_be_made_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """Before anything is asked for."""
    assert 2 == main(of_list(tmp_path, *words))
    error = capsys.readouterr().err
    assert message in error
    assert 1 == error.count("\n")


def test_a_list_that_leads_back_to_itself_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As every manifest is."""
    (tmp_path / "urls.txt").write_text(f"@{tmp_path / 'urls.txt'}\n", encoding="utf-8")

    assert 2 == main(of_list(tmp_path, "--page-urls", f"@{tmp_path / 'urls.txt'}"))
    assert "this manifest leads back to itself" in capsys.readouterr().err


def test_a_page_of_a_list_that_is_busy_is_waited_for(room: Newsroom, tmp_path: Path) -> None:
    """Without a feed the command ends when no page is left, not when none is due."""
    room.article("/a", "Of a")
    room.answers["/a"] = [(503, {})]

    assert 0 == main(of_list(tmp_path, "--page-urls", f"{room.url}/a", "--set", "acquire.first_wait_seconds=0.1"))
    assert [f"{room.url}/a"] == urls(tmp_path)


def test_a_list_without_a_page_is_an_error(room: Newsroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So is no list and no feed. An answer that says that there is no page is kept: that is what the web had."""
    room.pages["/robots.txt"] = (b"User-agent: *\nDisallow: /", "text/plain")
    assert 2 == main(of_list(tmp_path, "--page-urls", f"{room.url}/none", f"{room.url}/nor-this"))
    *warnings, last = capsys.readouterr().err.splitlines()
    assert 2 == sum("refused: " in line for line in warnings)
    assert last == "dbce: no page could be fetched; the messages before say why"

    assert 2 == main(of_list(tmp_path))
    assert "give the URL of a feed, --page-urls with URLs of pages, or --search" in capsys.readouterr().err


def test_when_stopped_it_hands_over_what_it_has(room: Newsroom, tmp_path: Path) -> None:
    """SIGTERM ends it with status 0, and the page that was in the open file is in the output."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    process = started(feed, tmp_path)
    # The request alone says nothing: an answer that comes a second after the signal is left to the next run.
    until(lambda: any(file.stat().st_size for file in (tmp_path / "state" / "open").glob("*")))
    process.send_signal(signal.SIGTERM)

    assert 0 == process.wait(PATIENCE)
    assert [f"{room.url}/a"] == urls(tmp_path)


def test_a_kill_loses_no_page_and_fetches_none_twice(room: Newsroom, tmp_path: Path) -> None:
    """Killed with pages in the open file, and gone on with while the feed has grown: each page is captured once."""
    paths = [f"/{name}" for name in "abcdef"]
    for path in paths:
        room.article(path, f"Of {path}")
    feed = room.publish("/rss", *(item(f"{room.url}{path}", path) for path in paths[:3]))
    process = started(feed, tmp_path)
    until(lambda: "/c" in room.paths())
    process.kill()
    process.wait(PATIENCE)
    room.publish("/rss", *(item(f"{room.url}{path}", path) for path in paths))
    time.sleep(0.1)
    main(arguments(feed, tmp_path, "--once"))

    assert [f"{room.url}{path}" for path in paths] == sorted(urls(tmp_path))
    assert [] == [path for path in paths[:2] if room.paths().count(path) != 1]


def test_two_at_work_on_one_memory_are_refused(
    room: Newsroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second process ends with one line that explains it, and touches nothing."""
    feed = room.publish("/rss")
    process = started(feed, tmp_path)
    until(lambda: bool(room.asked))
    status = main(arguments(feed, tmp_path, "--once"))
    process.kill()
    process.wait(PATIENCE)

    assert 2 == status
    assert "is another `dbce acquire` at work with this --state?" in capsys.readouterr().err


def test_feeds_that_are_all_gone_are_an_error(
    room: Newsroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also without --once, and for who gives the command again; of others it is not the time that is waited for."""
    room.answers["/gone"] = [(410, {})]
    gone, down = room.publish("/gone"), f"{room.url}/down"
    for _ in range(2):
        assert 2 == main(arguments(gone, tmp_path))
        assert capsys.readouterr().err.endswith("dbce: every feed is gone (410); give others\n")

    room.answers["/down"] = [(500, {})] * 2
    both = [*arguments(gone, tmp_path), "--set", "acquire.poll_seconds=86400", "--once"]
    both.insert(1, down)
    for message in ("no feed could be polled; the messages before say why", "none is due before 20"):
        assert 2 == main(both)
        assert message in capsys.readouterr().err
