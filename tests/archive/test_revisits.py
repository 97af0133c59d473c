"""Revisits find the capture whose payload they share."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.revisits import Shared, fetch_times, resolve, share, unresolved
from dbce_spark.dbce import local
from dbce_spark.model import Capture, Reject, RejectReason, Revisit, Seen, Skip
from tests.support import revisit_archive
from tests.support.builders import URL, archive, capture, config, http, microseconds, outcomes_of, read, record
from tests.support.revisit_archive import HOST, IDENTICAL, NOT_MODIFIED, digest, revisit
from tests.support.revisits import day, unresolved_revisit

CONFIG = config("label.by=T002")
DAY = 86_400_000_000
OTHER = "http://www.example.org/other"


def original(captures: list[Capture], revisit: Revisit) -> Capture | None:
    """Return the capture that is found."""
    (found,) = resolve(captures, [revisit])
    return None if found is None else {one.capture_id: one for one in captures}[found.original_id]


def shared_of(captures: list[Capture], revisits: list[Revisit]) -> Shared:
    return share((one.capture_id for one in captures), filter(None, resolve(captures, revisits)))


def on(nth: int, url: str = URL, payload: str = "sha1:A", **fields: Any) -> Capture:
    return capture(url, day(nth), payload_digest=payload, **fields)


def test_record_that_it_names() -> None:
    """WARC-Refers-To names the record, whatever the other headers name."""
    named = on(1, OTHER, "sha1:B", record_id="<urn:uuid:named>")
    declared = unresolved_revisit(refers_to_id="<urn:uuid:named>", digest="sha1:A")

    assert named == original([on(2), named], declared)


def test_url_and_date_that_it_names() -> None:
    """WARC-Refers-To-Target-URI and -Date name the capture; a date without a URL means the revisit's own."""
    first, second = on(1), on(2)

    assert first == original([first, second], unresolved_revisit(refers_to_time=first.timestamp))
    assert on(2, OTHER) == original(
        [first, on(2, OTHER)], unresolved_revisit(refers_to_key=on(2, OTHER).url_key, refers_to_time=second.timestamp)
    )


def test_fractions_of_a_second_are_not_compared() -> None:
    """WARC 1.0 and CDX know no fractions: a date means the second."""
    one = on(1)

    assert one == original([one], unresolved_revisit(refers_to_time=one.timestamp + 999_999))
    assert None is original([one], unresolved_revisit(refers_to_time=one.timestamp + 1_000_000))


@pytest.mark.parametrize("field", ["payload_digest", "declared_digest"])
def test_payload_that_it_declares(field: str) -> None:
    """A capture of the same digest and URL is the original, whether its digest was declared or computed."""
    fields: dict[str, Any] = {field: "sha256:0a"}
    one = replace(on(1, payload="sha1:other"), **fields)

    assert one == original([on(2, payload="sha1:B"), one], unresolved_revisit(digest="sha256:0a"))


def test_same_url_goes_before_same_payload() -> None:
    """A capture of the same URL is preferred to a later one with the same payload under another."""
    assert on(1) == original([on(1), on(2, OTHER)], unresolved_revisit(digest="sha1:A"))


def test_payload_under_another_url() -> None:
    """A capture of the same digest under another URL is enough for a payload that was fetched, and not for one that was
    not."""
    assert on(1, OTHER) == original([on(1, OTHER)], unresolved_revisit(digest="sha1:A"))
    assert None is original([on(1, OTHER)], unresolved_revisit(digest="sha1:A", is_unmodified=True))


def test_latest_before_it() -> None:
    """The latest of several captures up to the revisit's own time is the original."""
    assert on(9) == original([on(9), on(3), on(11)], unresolved_revisit(digest="sha1:A"))
    assert on(10) == original([on(9), on(10), on(11)], unresolved_revisit(digest="sha1:A"))


def test_earliest_after_it_if_all_are_later() -> None:
    """If all are later, the earliest of them is; but not of what a server says is not modified."""
    assert on(11) == original([on(12), on(11)], unresolved_revisit(digest="sha1:A"))
    assert None is original([on(12), on(11)], unresolved_revisit(is_unmodified=True))


def test_not_modified_is_the_latest_of_its_url() -> None:
    """The original of a page not modified since is the last that was fetched, whatever its payload."""
    captures = [on(1), on(5, payload="sha1:B"), on(12, payload="sha1:C")]

    assert captures[1] == original(captures, unresolved_revisit(is_unmodified=True))


def test_not_modified_since_a_capture_that_is_not_there() -> None:
    """If the capture that it names is not there, another of its URL is not it: its content may differ."""
    assert None is original([on(1)], unresolved_revisit(is_unmodified=True, refers_to_time=microseconds(day(5))))
    assert None is original([on(1)], unresolved_revisit(is_unmodified=True, refers_to_id="<urn:uuid:gone>"))


def test_nothing_is_found_by_nothing() -> None:
    """A revisit that says nothing of its original has none, though captures say nothing either."""
    assert None is original([on(1, record_id="", payload="")], unresolved_revisit())


def test_reject_says_what_was_looked_for() -> None:
    """A revisit without an original is a reject with its place and with all that it has named."""
    reject = unresolved(
        unresolved_revisit(refers_to_id="<urn:uuid:x>", refers_to_time=microseconds(day(1)), digest="sha1:A")
    )

    assert isinstance(reject, Reject)
    assert (RejectReason.REVISIT_UNRESOLVED, "b.warc.gz", 7, URL) == (
        reject.reason,
        reject.warc_file,
        reject.warc_offset,
        reject.url,
    )
    assert "no page is <urn:uuid:x>, or org,example)/a.html of 2020-01-01T00:00:00Z, or sha1:A" == reject.detail


def test_revisit_of_a_time_before_all_clocks_is_a_reject() -> None:
    """A date before the year 1, which a time zone can make, is printed, too."""
    reject = unresolved(unresolved_revisit(refers_to_time=-62_135_604_000_000_000))

    assert isinstance(reject, Reject)
    assert "0000-12-31T22:00:00Z" in reject.detail


@pytest.mark.parametrize(
    ("url", "status", "is_page"),
    [
        ("http://www.example.org/a.png", 304, False),
        ("http://www.example.org/a/b.min.JS?c.html#d", 0, False),
        ("http://www.example.org/.css", 304, False),
        ("http://www.example.org/a.png", 200, True),
        ("http://www.example.org/a.php", 304, True),
        ("http://www.example.org/a.png/", 304, True),
        ("http://www.example.org/?a.png", 304, True),
        ("http://www.example.org/wiki/File:A.png", 304, True),
        ("http://www.example.org/wiki/File%3AA.png", 304, True),
        ("http://www.example.png", 304, True),
    ],
)
def test_no_page_by_its_url(url: str, status: int, is_page: bool) -> None:
    """A revisit that does not say its type is passed over, and no reject, where its URL can be that of no page."""
    found = unresolved(unresolved_revisit(url=url, http_status=status, is_unmodified=True))

    assert is_page == isinstance(found, Reject)
    assert is_page or found == Skip("mime")


def test_each_capture_is_there_once() -> None:
    """One of two equal revisits stays; a revisit with a capture's URL, time and payload is that capture."""
    revisits = [
        unresolved_revisit(digest="sha1:A"),
        unresolved_revisit(digest="sha1:A", timestamp=microseconds(day(11))),
    ] * 2
    shared = shared_of([on(10), on(1)], revisits)

    assert ([microseconds(day(11))], 3) == ([one.revisit.timestamp for one in shared.revisits], shared.duplicates)


def test_first_and_last_seen() -> None:
    """A capture was seen when it was fetched and at its revisits, be they before it."""
    one = on(5)
    times = [microseconds(day(nth)) for nth in (3, 7)]
    shared = shared_of(
        [one, on(6, OTHER, "sha1:B")], [unresolved_revisit(digest="sha1:A", timestamp=time) for time in times]
    )

    assert {one.capture_id: Seen(first=times[0], last=times[1], revisits=2)} == fetch_times([one], shared.revisits)


digests = st.sampled_from(["sha1:A", "sha1:B"])
days = st.integers(1, 20).map(lambda nth: microseconds(day(nth)))
ids = st.sampled_from(["", "<urn:uuid:1>", "<urn:uuid:2>"])
urls = st.sampled_from([URL, OTHER])
captures_made = st.lists(
    st.builds(
        lambda url, at, payload, name: replace(capture(url, payload_digest=payload, record_id=name), timestamp=at),
        urls,
        days,
        digests,
        ids,
    )
)
revisits_made = st.lists(
    st.builds(
        unresolved_revisit,
        timestamp=days,
        digest=st.one_of(st.just(""), digests),
        refers_to_id=ids,
        refers_to_time=st.none() | days,
        is_unmodified=st.booleans(),
    )
)


@given(captures_made, revisits_made, st.randoms())
def test_order_does_not_matter(captures: list[Capture], revisits: list[Revisit], random: Any) -> None:
    """In whatever order captures come, each revisit has the same original, and each that has one is counted once."""
    expected = resolve(captures, revisits)
    shuffled = list(captures)
    random.shuffle(shuffled)
    shared = shared_of(captures, revisits)

    assert expected == resolve(shuffled, revisits)
    assert len(revisits) - expected.count(None) == len(shared.revisits) + shared.duplicates


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (revisit(URL, day(1), http("", "404 Not Found")), "skip:status:404"),
        (revisit(URL, day(1), http("", content_type="image/png")), "skip:mime"),
        (revisit("dns:example.org", day(1)), "skip:scheme"),
        (revisit(URL, "yesterday"), "reject:bad_timestamp"),
        (record(b"", kind="revisit", url=None), "reject:no_url"),
    ],
)
def test_revisit_that_goes_no_further(tmp_path: Path, content: bytes, expected: str) -> None:
    """The HTTP head of a revisit is filtered by as that of a response is."""
    assert [expected] == outcomes_of(archive(tmp_path / "a.warc", content))


@pytest.mark.parametrize(
    ("block", "profile", "expected"),
    [
        (b"", NOT_MODIFIED, True),
        (http("", "304 Not Modified"), "", True),
        (http("", "304 Not Modified"), IDENTICAL, True),
        (http(""), IDENTICAL, False),
        (b"", "hello kitty", False),
    ],
)
def test_server_said_not_modified(tmp_path: Path, block: bytes, profile: str, expected: bool) -> None:
    """By its profile or by its status."""
    (found,) = read(archive(tmp_path / "a.warc", revisit(URL, day(1), block, profile)))

    assert expected == found.is_unmodified


def test_what_a_revisit_says(tmp_path: Path) -> None:
    """All that a record says of itself and its original."""
    (found,) = read(
        archive(
            tmp_path / "a.warc",
            revisit(
                URL,
                day(2),
                http("", "304 Not Modified"),
                NOT_MODIFIED,
                WARC_Refers_To="<urn:uuid:o>",
                WARC_Refers_To_Target_URI=f"<{OTHER}>",
                WARC_Refers_To_Date=day(1),
                WARC_Payload_Digest="SHA-1:" + "0" * 40,
            ),
        )
    )

    assert (
        unresolved_revisit(
            timestamp=microseconds(day(2)),
            warc_file=str(tmp_path / "a.warc"),
            warc_offset=0,
            warc_length=(tmp_path / "a.warc").stat().st_size,
            record_id=f"<urn:uuid:{URL}{day(2)}>",
            http_status=304,
            is_unmodified=True,
            digest="sha1:" + "A" * 32,
            refers_to_id="<urn:uuid:o>",
            refers_to_key="org,example)/other",
            refers_to_time=microseconds(day(1)),
        )
        == found
    )


def test_archive_of_revisits(tmp_path: Path) -> None:
    """Over several files, every record of tests/support/revisit_archive.py has the outcome that it was made for."""
    result = local.extract(revisit_archive.write(tmp_path), CONFIG)
    by_id = {one.page.capture_id: one.page.capture for one in result.extractions}
    shared = sorted(
        (one.revisit.url.removeprefix(HOST), by_id[one.original_id].url.removeprefix(HOST)) for one in result.revisits
    )

    assert [
        ("/apple", "/apple"),
        ("/apple", "/apple"),
        ("/apple", "/apple"),
        ("/late", "/late"),
        ("/pear", "/pear"),
        ("/plum", "/plum"),
        ("/plum/", "/plum"),
        ("/plum/again", "/plum"),
    ] == shared
    assert 6 == len(result.extractions)
    assert {
        "type:warcinfo": 1,
        "segment": 2,
        "mime": 1,
        "duplicate": 3,
        "conversion:text": 1,
    } == result.skipped
    assert {"revisit_unresolved": 2, "segment_missing": 1} == Counter(str(one.reason) for one in result.rejects)
    assert result.records_read == len(result.extractions) + len(result.revisits) + len(result.rejects) + sum(
        result.skipped.values()
    )


def test_not_modified_in_the_archive(tmp_path: Path) -> None:
    """A page that changed in February was not modified on the last of January: the one of January holds then."""
    result = local.extract(revisit_archive.write(tmp_path), CONFIG)
    texts = {one.page.capture_id: one.page.blocks.text for one in result.extractions}
    by_date = {one.revisit.timestamp: texts[one.original_id] for one in result.revisits if "apple" in one.revisit.url}

    assert "About apple2" in by_date[microseconds("2020-02-02T00:00:00Z")]
    assert "About apple2" not in by_date[microseconds("2020-01-31T00:00:00Z")]


def test_declared_digest_is_kept_where_it_is_another(tmp_path: Path) -> None:
    """A capture remembers what its record declares, if that is not what was computed."""
    one, other = (
        read(archive(tmp_path / "a.warc", record(http("<p>x"), WARC_Payload_Digest=declared)))[0].capture
        for declared in (digest("a1"), "sha1:nothing")
    )
    same, *_ = read(archive(tmp_path / "a.warc", record(http("<p>x"), WARC_Payload_Digest=one.payload_digest)))

    assert (digest("a1").replace("sha-256", "sha256"), "sha1:NOTHING", "") == (
        one.declared_digest,
        other.declared_digest,
        same.capture.declared_digest,
    )
