"""Turn the pages of a domain into rows, in plain Python."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from dbce_spark.errors import OutputError
from dbce_spark.streaming.stream import streamed_domain as module
from dbce_spark.streaming.stream.arrival import (
    Arrival,
    Row,
    pack_head,
    restore_arrival,
    unpack_row,
)
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REPEATS, build_rows
from dbce_spark.streaming.stream.streamed_domain import StreamedDomain
from tests.support.stream_files import TREE, arrival, tree

URL = "http://www.example.org/news/{}.html"


def taken(arrivals: list[Arrival], domain: StreamedDomain | None = None) -> list[tuple[str, Row]]:
    return [*build_rows(arrivals, StreamedDomain("example.org", TREE) if domain is None else domain)]


def pages(count: int, *shared: str) -> list[Arrival]:
    """Return pages with a text of their own each, and these shared ones."""
    numbered = enumerate("abcdefghijklmnop"[:count])
    return [arrival(URL.format(name), *shared, f"Own {name} text", row_no=at) for at, name in numbered]


def test_what_pages_share_is_boilerplate_from_the_second_on() -> None:
    """The menu of the first page is content as long as no other page has it."""
    found = taken(pages(3, "The menu"))

    assert ["The menu\nOwn a text", "Own b text", "Own c text"] == [row["text"] for _, row in found]


def test_a_row_says_what_decided() -> None:
    """A row has the node, its documents, the domain's, and for each block its label with the count that gave it."""
    _, row = taken(pages(2, "The menu"))[1]
    blocks = [(one["label"], one["count"], row["page_text"][one["start"] : one["end"]]) for one in row["blocks"]]

    assert ("example.org", 2, 2, 1) == tuple(
        row[name] for name in ("node", "node_documents", "domain_documents", "c_max")
    )
    assert [("boilerplate", 2, "The menu"), ("content", 1, "Own b text")] == blocks
    assert (5, 3) == (row["words"], row["text_words"])


def test_the_place_in_the_stream_decides_and_not_the_order_of_coming() -> None:
    """Pages that are handed in backwards give the rows that they give forwards."""
    some = pages(8, "The menu")

    assert taken(some) == taken(some[::-1])


def test_a_page_of_a_known_key_is_listed_with_the_steps_that_found_it() -> None:
    """A repeat lists the steps at which its URL equals an earlier one; the key alone if only a dropped parameter
    differs."""
    first = arrival(f"{URL.format('a')}?s=1", "Text")
    same = arrival(f"{URL.format('a')}?s=1", "Text again", row_no=1)
    other = arrival(f"{URL.format('a')}?s=2", "Text", row_no=2)
    found = taken([first, same, other])

    assert [LABELS, REPEATS, REPEATS] == [table for table, _ in found]
    assert [[], ["request", "response", "titled", "key"], ["key"]] == [row["steps"] for _, row in found]


def test_the_title_of_the_feed_tells_pages_of_one_url_apart() -> None:
    """Under a rule that keeps _cid_, another title is another page, and the response URL a repeat all the same."""
    kept = tree('keys.rules=[{match = "www.example.org", keep = ["_cid_"]}]')
    url = URL.format("live")
    some = [
        arrival(url, f"Text {title}", row_no=at, settings=kept, item_title=title)
        for at, title in enumerate(("First", "Second", "First"))
    ]
    found = taken(some, StreamedDomain("example.org", kept))

    assert [LABELS, LABELS, REPEATS] == [table for table, _ in found]
    assert [[], ["request", "response"], ["request", "response", "titled", "key"]] == [row["steps"] for _, row in found]


def test_a_redirect_is_followed_by_what_the_feed_had() -> None:
    """Two links of feeds that led to one page are the same from the response on."""
    url = URL.format("a")
    some = [
        arrival(url, "Text", row_no=at, item_link=f"http://feeds.example.com/{at}", item_title="T") for at in range(2)
    ]
    found = taken(some)

    assert ["response", "titled", "key"] == found[1][1]["steps"]
    assert "example.org" == found[1][1]["domain"]


def test_a_page_is_labelled_once_more_when_its_node_has_seen_enough() -> None:
    """With this option on, the first page's menu, which was content, is boilerplate in its late labels."""
    relabelling = tree("relabel.support=3", "label.n_min=1", "label.heuristic=strict-at-domain")
    found = taken(pages(3, "The menu"), StreamedDomain("example.org", relabelling))
    late = [
        (row["capture_id"], [one["label"] for one in row["blocks"]]) for table, row in found if table == LATE_LABELS
    ]
    ids = [row["capture_id"] for table, row in found if table == LABELS]

    assert [(one, ["boilerplate", "content"]) for one in ids[:2]] == late
    assert {2} == {row["row_no"] for table, row in found if table == LATE_LABELS}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), max_size=14), st.integers(0, 14))
def test_a_state_that_was_bytes_goes_on_as_if_it_had_not(urls: list[tuple[str, int]], cut: int) -> None:
    """A domain restored from bytes gives the same rows as one that was never packed, even when pages have left the
    window."""
    small = tree("window.max_documents=4", "window.min_documents=1", "relabel.support=2")
    some = [
        arrival(f"{URL.format(name)}?s={number}", "The menu", f"Own {name}", row_no=at, settings=small)
        for at, (name, number) in enumerate(urls)
    ]
    whole = StreamedDomain("example.org", small)
    expected = [*build_rows(some, whole)]
    first = StreamedDomain("example.org", small)
    found = [*build_rows(some[:cut], first)]
    second = StreamedDomain.from_bytes(first.to_bytes(), small)
    found += build_rows(some[cut:], second)

    assert expected == found
    assert whole.to_bytes() == second.to_bytes()


def test_no_more_urls_are_remembered_than_documents() -> None:
    """A domain that shows the same key under ever new URLs does not grow."""
    small = tree("window.max_documents=4", "window.min_documents=1")
    domain, sizes = StreamedDomain("example.org", small), []
    for at in range(40):
        taken([arrival(f"{URL.format('a')}?s={at}", "Text", row_no=at)], domain)
        sizes.append(len(domain.to_bytes()))

    assert sizes[8] == sizes[-1]


def test_a_state_of_another_version_is_refused_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names both versions, and what can be done."""
    data = StreamedDomain("example.org", TREE).to_bytes()
    monkeypatch.setattr(module, "VERSION", 9)

    with pytest.raises(OutputError, match=r"is of version 3, this program has 9: .*another --output"):
        StreamedDomain.from_bytes(data, TREE)


def test_what_is_no_state_is_refused() -> None:
    """Bytes of something else are reported as an unknown version."""
    with pytest.raises(OutputError, match="version unknown"):
        StreamedDomain.from_bytes(b"x" * 100, TREE)


@given(st.text(max_size=40))
def test_an_arrival_survives_the_way(text: str) -> None:
    """An arrival that was packed for another process is restored, with surrogates and control characters."""
    sent = arrival(URL.format("a"), "A word", item_title=text)
    back = restore_arrival(0, 0, sent.packed_row, pack_head(sent), sent.packed_blocks)

    assert text == unpack_row(back.packed_row)["item_title"]
    assert sent == back


def test_the_file_comes_before_the_row() -> None:
    """The last row of the first file is in front of the first row of the second."""
    first = arrival(URL.format("a"), "The menu", "Own a text", row_no=5)
    second = replace(arrival(URL.format("b"), "The menu", "Own b text"), file_no=1)

    assert ["The menu\nOwn a text", "Own b text"] == [row["text"] for _, row in taken([second, first])]
