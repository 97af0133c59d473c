"""The captures of one URL in a collection are listed with their changes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbce_spark.errors import InputError
from dbce_spark.files import parquet
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.output.history import markdown_history, page_history, url_history
from dbce_spark.output.history.page_history import Moment, Piece
from dbce_spark.output.output_reader import Output, list_increments
from dbce_spark.output.schemas import capture_rows, extraction_rows, member_rows

URL, KEY = "http://www.example.org/a", "org,example)/a"
CORRECTED = "On {} the council of the town has met and decided to build two new schools in the north."


def row(capture_id: str, day: int, extraction_id: str = "") -> dict[str, Any]:
    return {
        "capture_id": capture_id,
        "extraction_id": extraction_id or capture_id,
        "url_key": KEY,
        "url": URL,
        "site": "example.org",
        "timestamp": datetime(2026, 3, day, tzinfo=UTC),
    }


def segments(*blocks: tuple[str, str]) -> dict[str, Any]:
    """Build blocks of one segment, each with its text and label."""
    found, start = [], 0
    for at, (text, label) in enumerate(blocks):
        end = start + len(text)
        found.append({"block": at, "start": start, "end": end, "label": label, "xpath": f"/p[{at + 1}]"})
        start = end + 1
    return {"page_text": "\n".join(text for text, _ in blocks), "segments": found}


def write(folder: str, table: str, schema: pa.Schema, *rows: dict[str, Any]) -> None:
    batch = pa.RecordBatch.from_pylist([*rows], schema=schema)
    parquet.write(f"{folder}/{table}/part-00000.parquet", schema, [batch])


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """Build a collection: a page that is corrected, then fetched again as it was, then redesigned; and another page."""
    of = Collection(str(tmp_path))
    folder = of.increment(1)
    lone = row("x", 9) | {"url_key": "org,example)/x"}
    old, new = (np.full(4, number, "<u4").tobytes() for number in (1, 2))
    write(
        folder,
        "extractions",
        extraction_rows.EXTRACTIONS,
        row("a", 1)
        | {"template_id": "t1"}
        | segments(("Menu", "boilerplate"), (CORRECTED.format("Monday"), "content"))
        | {"markdown": "# Schools\n\nOn Monday\n\nTwo"},
        row("b", 2)
        | {"template_id": "t1"}
        | segments(("Menu", "boilerplate"), (CORRECTED.format("Tuesday"), "content"))
        | {"markdown": "# Schools\n\nOn Tuesday\n\nTwo"},
        row("c", 4)
        | {"template_id": "t2"}
        | segments(("Home", "boilerplate"), (CORRECTED.format("Tuesday"), "content"))
        | {"markdown": "# Schools\n\nOn Tuesday\n\nTwo\n\n- new"},
        lone | segments(("Other", "content")),
    )
    write(folder, "captures", capture_rows.CAPTURES, row("a", 1), row("b", 2), row("r", 3, "b"), row("c", 4), lone)
    members = [
        {"capture_id": name, "url_key": KEY, "signature": value}
        for name, value in zip("abc", (old, old, new), strict=True)
    ]
    write(folder, "members", member_rows.MEMBERS, *members)
    increment = Increment(number=1, page_files=0, captures=4, extractions=4, relabelled=0)
    of.commit(Version(number=1, made="", why="extract", increments=(increment,), settings={"config": {}}))
    return of


def opened(of: Collection) -> Output:
    """Open the last version of a collection without accounts."""
    return Output(root=of.folder, run={}, runs=list_increments(of, of.current()))


def test_each_capture_is_a_moment(collection: Collection) -> None:
    """Captures are in order of time; a revisit has the pieces and the template of its original."""
    line = url_history.moments(opened(collection), URL)

    assert ["a", "b", "r", "c"] == [one.capture_id for one in line]
    assert line[1].pieces == line[2].pieces
    assert [1.0, 1.0, 0.0] == [step.similarity for step in page_history.steps(line)]
    assert {(KEY, URL, "example.org")} == {(one.url_key, one.url, one.site) for one in line}


def test_a_revisit_may_hold_what_another_url_held(collection: Collection) -> None:
    """The original of a revisit is found under the key of its own URL."""
    elsewhere = row("y", 10, "a") | {"url_key": "org,example)/y"}
    write(f"{collection.increment(1)}", "captures/more", capture_rows.CAPTURES, elsewhere)

    (found,) = url_history.moments(opened(collection), "http://www.example.org/y")
    assert ("y", CORRECTED.format("Monday")) == (found.capture_id, found.pieces[-1].text)


def test_what_a_person_reads(collection: Collection) -> None:
    """Changes of the content, word by word, captures that changed nothing as a number, and how long texts stood."""
    line = url_history.moments(opened(collection), URL)
    shown = url_history.text(URL, line, 0.5, everything=False, coloured=False)

    assert shown == "\n".join(
        [
            f"{URL}: 4 captures, 2026-03-01 00:00 to 2026-03-04 00:00",
            "",
            "2026-03-02 00:00  1 edited",
            "  ~ On [-Monday-] {+Tuesday+} the council of the town has met and decided to build two new schools in the"
            " north.",
            "",
            "content unchanged in 1 more, to 2026-03-03 00:00",
            "",
            "2026-03-04 00:00",
            "  template redesigned: 0% as before (t1, now t2)",
            "",
            "content: first seen, last seen, captures",
            f"  2026-03-01  2026-03-01     1  {CORRECTED.format('Monday')[:80]}..., edited",
            f"  2026-03-02  2026-03-04     3  {CORRECTED.format('Tuesday')[:80]}...",
        ]
    )


def test_markdown_is_shown_as_diffs(collection: Collection) -> None:
    """Of each capture that changed a line, with a line around it; the others are a number."""
    line = markdown_history.markdown_captures(opened(collection), URL)

    assert [
        f"{URL}: 4 captures, 2026-03-01 00:00 to 2026-03-04 00:00",
        *("", "2026-03-02 00:00", "@@ -2,3 +2,3 @@", " ", "-On Monday", "+On Tuesday", " "),
        *("", "unchanged in 1 more"),
        *("", "2026-03-04 00:00", "@@ -5 +5,3 @@", " Two", "+", "+- new"),
    ] == markdown_history.diffs(URL, line, coloured=False).split("\n")
    assert "\033[32m+On Tuesday\033[0m" in markdown_history.diffs(URL, line, coloured=True)


def test_a_collection_without_markdown_has_no_diffs_of_it(collection: Collection) -> None:
    """The message says how to get it."""
    with pytest.raises(
        InputError, match=r"2026-03-09 00:00 has no Markdown: .* extracted without --format text,markdown"
    ):
        markdown_history.markdown_captures(opened(collection), "http://www.example.org/x")


def test_a_capture_of_the_first_moment_without_markdown_is_missed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is the number 0, which is as good as another."""
    captures = [{"timestamp": datetime(1970, 1, 1, tzinfo=UTC), "extraction_id": "a"}]
    monkeypatch.setattr(markdown_history, "captures_of", lambda *_: (captures, {"a": {}}))

    with pytest.raises(InputError, match="1970-01-01 00:00 has no Markdown"):
        markdown_history.markdown_captures(opened(collection), URL)


def lines_between(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> list[str]:
    """List the lines on one step, between texts with their labels."""
    made = (
        tuple(Piece(text=text, label=label, xpath=f"/p[{nth}]") for nth, (text, label) in enumerate(some))
        for some in (before, after)
    )
    line = [Moment(capture_id=str(at), timestamp=at, pieces=pieces) for at, pieces in enumerate(made)]
    return url_history.text(URL, line, 0.5, everything=False, coloured=False).split("\n")[3:]


def test_a_long_text_is_reported_where_it_was_edited() -> None:
    """An edit far down in a long text is shown with the words around it."""
    words = [f"word{at}" for at in range(400)]
    lines = lines_between([(" ".join(words), "content")], [(" ".join([*words[:300], "more", *words[300:]]), "content")])

    around = " ".join(words[294:300]), " ".join(words[300:306])
    assert f"  ~ ... {around[0]} {{+more+}} {around[1]} ..." == lines[0]


def test_relabelled_texts_are_one_line() -> None:
    """Relabelled texts share one line, which names three of them."""
    texts = ["one", "two", "three", "four", "five"]
    lines = lines_between([(text, "content") for text in texts], [(text, "boilerplate") for text in texts])

    assert "  * one | two | three and 2 more (content, now boilerplate)" == lines[0]


def test_what_befell_many_texts_alike_is_reported_once() -> None:
    """A change that several texts share is one line, with their number."""
    lines = lines_between([("Parameters", "content")] * 3, [("Parameters:", "content")] * 3)
    names = ["Alpha", "Beta", "Gamma", "Delta"]
    many = lines_between([(f"{one}¶", "content") for one in names], [(one, "content") for one in names])

    assert "  ~ [-Parameters-] {+Parameters:+} (3 times)" == lines[0]
    assert "  ~ Alpha | Beta | Gamma and 1 more (the same words, otherwise spelled or ordered)" == many[0]


def test_texts_that_always_stood_are_a_number() -> None:
    """Texts present throughout are counted, the others listed."""
    kept = [(text, "content") for text in ("one", "two", "three")]
    lines = lines_between(kept, [*kept, ("four", "content")])

    assert ["  1970-01-01  1970-01-01     2  all the time: 3", "  1970-01-01  1970-01-01     1  four"] == lines[-2:]


def test_one_capture_alone_has_no_history(collection: Collection) -> None:
    """The only line on a single capture is that there is nothing to compare it with."""
    url = "http://www.example.org/x"
    line = url_history.moments(opened(collection), url)
    expected = f"{url}: 1 capture, 2026-03-09 00:00; there is nothing to set it beside"

    assert expected == url_history.text(url, line, 0.5, everything=False, coloured=False)


def test_boilerplate_is_shown_on_request(collection: Collection) -> None:
    """Changes of boilerplate are shown too, in colours where a terminal has them."""
    line = url_history.moments(opened(collection), URL)
    shown = url_history.text(URL, line, 0.5, everything=True, coloured=True)

    assert "  = \033[31mMenu\033[0m\n    \033[32mHome\033[0m" in shown
    assert "[-" not in shown


def test_an_unknown_url_is_an_error(collection: Collection) -> None:
    """The error names the key by which the URL was looked up."""
    with pytest.raises(InputError, match=r"has no capture of http://example\.org/zzz \(as org,example\)/zzz\)"):
        url_history.moments(opened(collection), "http://example.org/zzz")
