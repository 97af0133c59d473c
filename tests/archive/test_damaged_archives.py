"""Pages of damaged archives: each is as it was, or has a flag, or a reject; read whole and by an index alike."""

import bz2
import gzip
import io
import lzma
from base64 import b32encode, b64encode
from collections.abc import Callable
from hashlib import md5, sha1, sha256

import lz4.frame
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from dbce_spark.archive import warc
from dbce_spark.archive.index.fetch import Fetched
from dbce_spark.model import Reject, RejectReason, Revisit, Skip
from tests.support.builders import CONFIG, gzipped, http, record
from tests.support.indexes import entry
from tests.support.record_bytes import url

CHECKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "lz4": lambda content: lz4.frame.compress(content, content_checksum=True),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
UNCHECKED: dict[str, Callable[[bytes], bytes]] = {
    "zstd": zstandard.ZstdCompressor().compress,
    "lz4": lz4.frame.compress,
    "plain": bytes,
}
"""Codings in which nothing but a record's digest shows that a byte is wrong."""
PAGES = [
    b"<title>%d</title>" % nth + b"".join(b"<p>Pier %d: %d" % (k % 9, k * 7919 * (nth + 1) % 9973) for k in range(150))
    for nth in range(4)
]


def sha1_of(content: bytes) -> str:
    return f"sha1:{b32encode(sha1(content).digest()).decode()}"


def members(compress: Callable[[bytes], bytes]) -> list[bytes]:
    return [
        compress(record(http(page), url=url(nth), WARC_Payload_Digest=sha1_of(page))) for nth, page in enumerate(PAGES)
    ]


def outcomes(content: bytes) -> list[warc.RecordOutcome]:
    return list(warc.read_stream(io.BytesIO(content), "a.warc.gz", CONFIG.input, CONFIG.page.max_html_bytes))


def outcomes_at(content: bytes, offset: int, length: int) -> list[warc.RecordOutcome]:
    """Read a record by an index."""
    place = entry(url=url(1), path="a.warc.gz", offset=offset, length=length)
    fetched = Fetched(place, content[offset : offset + length])
    return list(warc.read_at(fetched, CONFIG.input, CONFIG.page.max_html_bytes, lambda _: None))


def flags(fetch: warc.Fetch) -> set[str]:
    return {str(one) for one in fetch.defects} | ({"truncated"} if fetch.capture.truncated else set())


def fetches(found: list[warc.RecordOutcome]) -> dict[str, warc.Fetch]:
    return {one.capture.url: one for one in found if isinstance(one, warc.Fetch)}


def rejects(found: list[warc.RecordOutcome]) -> list[tuple[RejectReason, str]]:
    return [(one.reason, one.url) for one in found if isinstance(one, Reject)]


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


damages = st.tuples(
    st.sampled_from(["flip", "cut", "zeros", "insert"]), st.floats(0, 1), st.binary(min_size=1, max_size=60)
)


def damaged(content: bytes, how: str, where: float, what: bytes) -> bytes:
    at = 1 + int(where * (len(content) - 2))
    if how == "cut":
        return content[:at]
    if how == "insert":
        return content[:at] + what + content[at:]
    behind = content[at : at + len(what)]
    changed = bytes(len(behind)) if how == "zeros" else bytes(byte ^ 0x10 for byte in behind)
    return content[:at] + changed + content[at + len(behind) :]


def check_others(found: dict[str, warc.Fetch], hit: int) -> None:
    """Check that the pages of all sound members are as they were."""
    others: list[tuple[str, bytes, set[str]]] = [
        (url(nth), page, set()) for nth, page in enumerate(PAGES) if nth != hit
    ]

    assert others == [(one, found[one].html, flags(found[one])) for one, _, _ in others if one in found]


@given(st.sampled_from(list(CHECKED)), st.integers(0, 3), damages)
@example("gzip", 1, ("cut", 0.5, b"x"))
@example("gzip", 1, ("flip", 0.5, b"x"))
@example("gzip", 1, ("cut", 0.999, b"x"))
def test_damage_of_a_member_costs_no_other_page_and_is_told(
    coding: str, hit: int, damage: tuple[str, float, bytes]
) -> None:
    """All other pages are as they were; one that differs has a flag, and one that is lost leaves a reject or a flag."""
    parts = members(CHECKED[coding])
    before = parts[hit]
    parts[hit] = damaged(before, *damage)
    content = b"".join(parts)
    found = outcomes(content)
    kept = fetches(found)
    odd = [one for one in kept.values() if one.capture.url not in {url(nth) for nth in range(4)}]

    check_others(kept, hit)
    assert all(flags(one) for one in odd)  # its URL was damaged
    if url(hit) in kept:
        assert kept[url(hit)].html == PAGES[hit] or flags(kept[url(hit)])
    else:
        assert odd or rejects(found)


@given(st.sampled_from(list(UNCHECKED)), st.integers(0, 3), st.integers(0, 500), st.integers(1, 255))
def test_wrong_byte_is_told_by_a_digest(coding: str, hit: int, back: int, flip: int) -> None:
    """The digest of the page tells, as these codings keep no checksum of what is compressed."""
    parts = members(UNCHECKED[coding])
    at = len(parts[hit]) - 5 - back
    parts[hit] = parts[hit][:at] + bytes([parts[hit][at] ^ flip]) + parts[hit][at + 1 :]
    found = outcomes(b"".join(parts))
    kept = fetches(found)

    check_others(kept, hit)
    assert rejects(found) if url(hit) not in kept else kept[url(hit)].html == PAGES[hit] or flags(kept[url(hit)])


@given(st.sampled_from(["gzip", "zstd", "xz"]), damages)
def test_damaged_member_by_an_index_is_as_in_the_whole_file(coding: str, damage: tuple[str, float, bytes]) -> None:
    """Its page has the same place, bytes and flags; what has none leaves a reject both ways."""
    parts = members(CHECKED[coding])
    parts[1] = damaged(parts[1], *damage)
    content, offset = b"".join(parts), len(parts[0])
    whole = [one for one in outcomes(content) if _offset(one) in range(offset, offset + len(parts[1]))]
    found = outcomes_at(content, offset, len(parts[1]))

    assert [(one.capture, one.html, flags(one)) for one in fetches(whole).values()] == [
        (one.capture, one.html, flags(one)) for one in fetches(found).values()
    ]
    assert fetches(found) or rejects(found)


def _offset(outcome: warc.RecordOutcome) -> int:
    if isinstance(outcome, warc.Fetch):
        return outcome.capture.warc_offset
    return -1 if isinstance(outcome, Skip | Revisit) else outcome.warc_offset


def test_page_of_a_damaged_member_is_flagged_and_the_damage_names_it() -> None:
    """The flag says that words may be wrong, the reject why."""
    parts = members(CHECKED["gzip"])
    parts[1] = flipped(parts[1], len(parts[1]) - 6)
    found = outcomes(b"".join(parts))
    (lost,) = (one for one in found if isinstance(one, Reject))

    assert {"damaged"} == flags(fetches(found)[url(1)])
    assert (RejectReason.BROKEN_RECORD, url(1), "<urn:uuid:0>") == (lost.reason, lost.url, lost.record_id)
    assert lost.detail == "gzip: incorrect data check"


@pytest.mark.parametrize("kind", ["request", "response"])
def test_unwanted_record_of_a_cut_member_is_a_reject(kind: str) -> None:
    """Nothing else shows that something is missing, also in the middle of a file, and by an index."""
    body = b"".join(b"%d " % (nth * 7919 % 10007) for nth in range(3000))
    image = record(http(body, content_type="image/png"), kind=kind, url=url(1))
    one, two, three = gzipped(record(url=url(0)), image, record(url=url(2)))
    content = one + two[:-2000] + three
    expected = [(RejectReason.BROKEN_RECORD, url(1))]

    assert expected == rejects(outcomes(content))
    assert expected == rejects(outcomes_at(content, len(one), len(two) - 2000))


def test_record_whose_length_is_too_small_is_truncated() -> None:
    """The reject of the bytes behind its block has its URL."""
    size = len(http(PAGES[1]))
    short = record(http(PAGES[1]), url=url(1)).replace(b"Length: %d" % size, b"Length: %d" % (size - 500))
    found = outcomes(b"".join(gzipped(record(url=url(0)), short)))

    assert {"truncated"} == flags(fetches(found)[url(1)])
    assert [(RejectReason.BROKEN_RECORD, url(1))] == rejects(found)


def test_page_whose_length_is_larger_than_a_record_may_be_is_kept() -> None:
    """Its member ends long before."""
    size = len(http(PAGES[1]))
    lying = record(http(PAGES[1]), url=url(1)).replace(b"Length: %d" % size, b"Length: 70000000")
    found = outcomes(b"".join(gzipped(record(url=url(0)), lying, record(url=url(2)))))

    assert [url(0), url(1), url(2)] == [*fetches(found)]
    assert {"truncated"} == flags(fetches(found)[url(1)])


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [(b"application/http; msgtype=response", ["response"]), (b"text/html", ["broken_record"])],
)
def test_record_without_a_type_is_read_as_its_content_type_says_or_rejected(
    content_type: bytes, expected: list[str]
) -> None:
    """No such record is skipped as of a type that nobody knows."""
    without = record(url=url(0)).replace(b"WARC-Type: response\r\n", b"")
    found = outcomes(without.replace(b"application/http; msgtype=response", content_type))

    assert expected == [
        one.capture.record_type if isinstance(one, warc.Fetch) else str(getattr(one, "reason", one)) for one in found
    ]


CHUNKED = b"3\r\n<p>\r\n5\r\nwords\r\n0\r\n\r\n"
GZIPPED = gzip.compress(b"<p>words", mtime=0)


@pytest.mark.parametrize(
    "made",
    [
        sha1_of,
        lambda content: f"sha-256:{sha256(content).hexdigest()}",
        lambda content: f"sha256:{b32encode(sha256(content).digest()).decode()}",
        lambda content: f"md5:{b32encode(md5(content).digest()).decode().lower()}",
        lambda content: f"sha1:{b64encode(sha1(content).digest()).decode()}",
        lambda content: f"sha256:{b64encode(sha256(content).digest()).decode()}",
    ],
)
@pytest.mark.parametrize(
    ("headers", "stored", "hashed"),
    [
        ("", b"<p>words", b"<p>words"),
        ("Transfer-Encoding: chunked", CHUNKED, CHUNKED),
        ("Transfer-Encoding: chunked", CHUNKED, b"<p>words"),
        ("Content-Encoding: gzip", GZIPPED, GZIPPED),
        ("Content-Encoding: gzip", GZIPPED, b"<p>words"),
    ],
)
def test_digest_of_any_form_of_a_payload_is_right(
    headers: str, stored: bytes, hashed: bytes, made: Callable[[bytes], str]
) -> None:
    """Crawlers have hashed bodies as they came, without their chunks, and decoded."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%s\r\n\r\n" % (headers or "A: b").encode() + stored
    sound, wrong = (
        fetches(outcomes(record(block, url=url(0), WARC_Payload_Digest=made(content))))[url(0)]
        for content in (hashed, b"other")
    )

    assert [set(), {"digest_differs"}] == [flags(sound), flags(wrong)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"WARC_Payload_Digest": sha1_of(b"x"), "WARC_Block_Digest": sha1_of(http(PAGES[0]))}, set()),
        ({"WARC_Payload_Digest": sha1_of(http(PAGES[0]))}, set()),
        ({"WARC_Block_Digest": sha1_of(b"x")}, {"digest_differs"}),
        ({"WARC_Block_Digest": f"md5:{md5(http(PAGES[0])).hexdigest()}"}, set()),
        ({"WARC_Payload_Digest": "whirlpool:abc"}, set()),
        ({"WARC_Payload_Digest": sha1_of(b"x"), "WARC_Truncated": "length"}, {"truncated"}),
    ],
)
def test_what_a_digest_proves(fields: dict[str, str], expected: set[str]) -> None:
    """One of the block counts too; one of an unknown kind proves nothing, nor one of a page that was cut."""
    found = fetches(outcomes(record(http(PAGES[0]), url=url(0), **fields)))

    assert expected == flags(found[url(0)])
