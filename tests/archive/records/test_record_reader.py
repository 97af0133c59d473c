"""The account of an archive: whatever its bytes, records and damages lie side by side from its first to its last."""

import bz2
import gzip
import zlib
from collections.abc import Callable
from random import Random

import lz4.frame
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dbce_spark.archive.records import Cause, Damage, Record, archive_file, foreign_head, inflated
from tests.support.builders import arc_header, arc_record, at_most, gzipped, http, record
from tests.support.record_bytes import LIMITS, read, url, urls

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "zstd": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
    "lz4": lz4.frame.compress,
    "bz2": bz2.compress,
}


def page(nth: int) -> bytes:
    return http(b"<p>%d " % nth + b"".join(b"word%d " % (nth * 7919 * k % 10007) for k in range(60)))


def made(kind: str, number: int = 6) -> list[bytes]:
    """Make records 0 to `number`; those of an ARC behind its header."""
    if kind == "warc":
        return [record(page(nth), url=url(nth)) for nth in range(number)]
    return [arc_header(), *(arc_record(page(nth), url=url(nth)) for nth in range(number))]


def expected_urls(kind: str, number: int = 6) -> list[str]:
    return [*(["filedesc://a.arc"] if kind == "arc" else []), *(url(nth) for nth in range(number))]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("kind", ["warc", "arc"])
def test_record_by_record(kind: str, coding: str) -> None:
    """Archives compressed by record, in every coding, are read whole; each record has a place of its own."""
    parts = [CODINGS[coding](one) for one in made(kind)]
    found = read(b"".join(parts))

    assert expected_urls(kind) == urls(found)
    assert [len(part) for part in parts] == [one.length for one in found]
    assert all(isinstance(one, Record) and one.inner == 0 and one.member == one.offset for one in found)


@pytest.mark.parametrize("coding", [name for name in CODINGS if name != "plain"])
@pytest.mark.parametrize("kind", ["warc", "arc"])
def test_one_member_for_all(kind: str, coding: str) -> None:
    """Each record of an archive compressed as a whole has the bytes of the member in front of it."""
    content = b"".join(made(kind))
    found = read(CODINGS[coding](content))

    assert expected_urls(kind) == urls(found)
    starts = [content.index(one) for one in made(kind)]
    assert [(0, start) for start in starts] == [(one.member, one.inner) for one in found if isinstance(one, Record)]


@given(st.integers(1, 5000), st.sampled_from(["warc", "arc"]))
@settings(max_examples=30)
def test_members_that_know_nothing_of_records(size: int, kind: str) -> None:
    """Members of a fixed size of content (BGZF, pigz), in which records begin and end anywhere, are read through."""
    content = b"".join(made(kind))
    found = read(b"".join(gzipped(*(content[at : at + size] for at in range(0, len(content), size)))))

    assert expected_urls(kind) == urls(found)
    assert [page(nth) for nth in range(6)] == [one.block for one in found if isinstance(one, Record)][-6:]


@pytest.mark.parametrize(("zeros", "cause"), [(10_240, Cause.BLANK), (10_241, Cause.BROKEN)])
@pytest.mark.parametrize("coding", CODINGS)
def test_zeros_behind_records_are_padding_up_to_a_size(coding: str, zeros: int, cause: Cause) -> None:
    """As a tape or a file system pads; more of them are what a crash has left of records."""
    found = read(b"".join(map(CODINGS[coding], made("warc"))) + bytes(zeros))

    assert expected_urls("warc") == urls(found)
    assert [(cause, zeros)] == [(one.cause, one.length) for one in found if isinstance(one, Damage)]


@pytest.mark.parametrize("content", [b"", b"\r\n" * 20, b"\n\0 \t" * 3000])
@pytest.mark.parametrize("ahead", [0, 1])
def test_members_without_content_are_no_loss(content: bytes, ahead: int) -> None:
    """Some writers close an archive with one, or begin it."""
    first, second = gzipped(*made("warc", 2))
    found = read(first * ahead + gzipped(content)[0] + second)

    assert [*[url(0)] * ahead, url(1)] == urls(found)
    assert {Cause.BLANK} == {one.cause for one in found if isinstance(one, Damage)}


def test_codings_may_change_within_a_file() -> None:
    """A file joined from files of every kind is read like one."""
    parts = made("warc")
    mixed = b"".join(CODINGS[name](part) for name, part in zip(CODINGS, parts, strict=False)) + parts[5]

    assert expected_urls("warc") == urls(read(mixed))


@pytest.mark.parametrize("is_compressed", [True, False])
def test_zstd_dictionary(is_compressed: bool) -> None:
    """The dictionary in the first frame, compressed or not, serves all that follow; it is no record and no loss."""
    parts = made("warc", 40)
    dictionary = zstandard.ZstdCompressionDict(b"".join(parts[:4]))
    raw = dictionary.as_bytes()
    raw = zstandard.ZstdCompressor().compress(raw) if is_compressed else raw
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    frame = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    found = read(frame + b"".join(compressor.compress(part) for part in parts))

    assert expected_urls("warc", 40) == urls(found)
    assert [Cause.BLANK] == [one.cause for one in found if isinstance(one, Damage)]


@pytest.mark.parametrize("other", [b"", b"any words", b"\x28\xb5\x2f\xfd broken"])
def test_zstd_dictionaries_of_joined_files(other: bytes) -> None:
    """Each serves what follows it; what is no dictionary is none, and no loss either."""

    def frame(raw: bytes) -> bytes:
        return b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw

    parts, content = made("warc", 8), b""
    for nth in range(2):
        dictionary = zstandard.train_dictionary(2000, [b"%d words of %d" % (page**2, nth) * 9 for page in range(500)])
        compressor = zstandard.ZstdCompressor(dict_data=dictionary)
        compressed = [compressor.compress(part) for part in parts[4 * nth : 4 * nth + 4]]
        content += b"".join([frame(dictionary.as_bytes()), *compressed[:2], frame(other), *compressed[2:]])
    found = read(content)

    assert expected_urls("warc", 8) == urls(found)
    assert {Cause.BLANK} == {one.cause for one in found if isinstance(one, Damage)}


@pytest.mark.parametrize("size", [1, 7])
def test_a_skippable_frame_that_its_file_ends_in_is_broken(size: int) -> None:
    """Nobody knows what was in it; a whole one has nothing."""
    whole = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"any"
    causes = [
        [one.cause for one in read(made("warc")[0] + frame) if isinstance(one, Damage)]
        for frame in (whole, whole[:-1], whole[:-size])
    ]

    assert [[Cause.BLANK], [Cause.BROKEN], [Cause.BROKEN]] == causes


@pytest.mark.parametrize("size", [10, 1000, 100_000])
@pytest.mark.parametrize("says_size", [True, False])
@pytest.mark.parametrize("is_trained", [True, False])
@pytest.mark.parametrize("window_log", [10, 20])
def test_heads_of_zstd_frames(size: int, says_size: bool, is_trained: bool, window_log: int) -> None:
    """A frame's head has from two bytes to fourteen: with the size of its content, a window or both, and with the id of
    a dictionary or without one."""
    parts = [record(http(bytes(64 + nth % 26 for nth in range(size))), url=url(nth)) for nth in range(3)]
    dictionary = zstandard.train_dictionary(2000, [b"%d words of page %d" % (nth * nth, nth) * 9 for nth in range(500)])
    raw = dictionary.as_bytes()
    form = zstandard.ZstdCompressionParameters(
        window_log=window_log, write_content_size=says_size, write_checksum=True, write_dict_id=True
    )
    compressor = zstandard.ZstdCompressor(dict_data=dictionary if is_trained else None, compression_params=form)
    first = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw if is_trained else b""
    found = read(first + b"".join(compressor.compress(part) for part in parts))

    assert expected_urls("warc", 3) == urls(found)


@given(st.binary(max_size=3000))
@example(b"\x1f\x8b\x08\x00garbage")
@example(b"WARC/1.0\r\n" * 3)
@example(b"WARC/1.0\r\nContent-Length: 99999999999999999999999\r\n\r\n")
@example(b"\x28\xb5\x2f\xfd\x20\xff")
@example(b"\x28\xb5\x2f\xfd")
@example(b"\x5d\x2a\x4d\x18\xff\xff\xff\xff")
def test_any_bytes(content: bytes) -> None:
    """Bytes of every kind are accounted for."""
    read(content)


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *made("warc", 2),
                *made("arc", 1),
                *gzipped(*made("warc", 2), b"", b"no record", b"\r\n"),
                CODINGS["zstd"](made("warc", 1)[0]),
                CODINGS["bz2"](made("arc", 1)[1]),
                CODINGS["lz4"](made("warc", 1)[0]),
                b"\r\n\r\n",
                b"\0" * 40,
                b"\x1f\x8b\x08",
                b"WARC/1.0\r\n",
                b"WARC/1.1\r\nContent-Length: -5\r\n\r\n",
                b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 700\r\n\r\n",
                b"http://a.example/ 1.2.3.4 20080430204826 text/html 100\n",
            ]
        ),
        st.binary(max_size=40),
    ),
    max_size=8,
)


@given(pieces, st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4), st.integers(20, 4000))
def test_anything_put_together(parts: list[bytes], flips: list[tuple[float, int]], most: int) -> None:
    """Parts of archives in any order, with bytes flipped, under any limit, are accounted for."""
    content = bytearray(b"".join(parts))
    for where, flip in flips:
        if content:
            content[int(where * (len(content) - 1))] ^= flip

    read(bytes(content), at_most(record_bytes=most, head_bytes=most, inflated_bytes=10 * most, inflated_ratio=2))


damages = st.one_of(
    st.tuples(st.just("flip"), st.floats(0, 1), st.binary(min_size=1, max_size=4)),
    st.tuples(st.just("cut"), st.floats(0, 1), st.binary(min_size=1, max_size=60)),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=60)),
)


def damaged(content: bytes, how: str, where: float, what: bytes) -> bytes:
    at = int(where * (len(content) - 1))
    if how == "insert":
        return content[:at] + what + content[at:]
    behind = at + len(what)
    return (
        content[:at] + (b"" if how == "cut" else bytes(byte ^ 0x55 for byte in content[at:behind])) + content[behind:]
    )


@given(st.sampled_from(["warc", "arc"]), st.sampled_from(["gzip", "zstd", "lz4"]), st.integers(1, 4), damages)
@example("warc", "lz4", 1, ("cut", 30 / 613, b"1234"))
@example("warc", "lz4", 2, ("cut", 30 / 619, b"x" * 39))
def test_damage_in_one_member(kind: str, coding: str, hit: int, damage: tuple[str, float, bytes]) -> None:
    """Whatever is done to one member, the records ahead of it are whole, and those behind the next are too."""
    parts = [CODINGS[coding](one) for one in made(kind)]
    parts[hit] = damaged(parts[hit], *damage)
    found = read(b"".join(parts))
    blocks = [one.block for one in found if isinstance(one, Record)]
    sound = [page(nth) for nth in range(6)]
    first = hit - (kind == "arc")

    assert sound[:first] == [block for block in blocks if block in sound[:first]]
    assert sound[first + 2 :] == [block for block in blocks if block in sound[first + 2 :]]


@pytest.mark.parametrize("system", [0, 3, 7, 10, 11, 19, 255])
def test_damage_costs_one_record_whatever_system_wrote_the_archive(system: int) -> None:
    """Gzip notes it in each member: macOS as 19, which RFC 1952 does not name."""
    parts = [bytearray(CODINGS["gzip"](one)) for one in made("warc")]
    for part in parts:
        part[9] = system
    parts[2][20:] = b"x" * len(parts[2][20:])

    assert [one for nth, one in enumerate(expected_urls("warc")) if nth != 2] == urls(read(b"".join(parts)))


@given(st.sampled_from(["warc", "arc"]), st.sampled_from(["gzip", "zstd", "lz4"]), st.integers(1, 4), damages)
@example("warc", "gzip", 1, ("cut", 0.8, b"x" * 60))
@example("warc", "lz4", 1, ("cut", 30 / 613, b"1234"))
def test_damage_in_one_member_that_is_too_large(
    kind: str, coding: str, hit: int, damage: tuple[str, float, bytes]
) -> None:
    """Damage costs one record also where no block is kept and members are inflated twice; no record comes out twice."""
    parts = [CODINGS[coding](one) for one in made(kind)]
    parts[hit] = damaged(parts[hit], *damage)
    found = urls(read(b"".join(parts), at_most(record_bytes=99)))
    expected = expected_urls(kind)

    assert expected[:hit] == found[:hit]
    assert expected[hit + 2 :] == [one for one in found if one in expected[hit + 2 :]]
    assert len(found) == len(set(found))


def test_the_search_goes_on_at_the_byte_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no more may be read again than a little; of the member in front of it all is the record's."""
    compressor = zlib.compressobj(wbits=31)
    words = http(b"".join(b"%d " % (nth**9) for nth in range(2000)))
    whole = compressor.compress(record(words, url=url(0))) + compressor.flush(zlib.Z_FULL_FLUSH)
    content = whole + b"\xff" * 99 + gzip.compress(record(url=url(1)))
    monkeypatch.setattr(archive_file, "_LEAST_LOOKED_BACK", 2000 - 4 * len(content))
    found = read(content)

    assert [url(0), url(1)] == urls(found)
    assert [(len(whole), 99)] == [(one.offset, one.length) for one in found if isinstance(one, Damage)]


def test_a_member_ends_the_record_that_claims_more() -> None:
    """Also where the text of the record holds what begins as a record does."""
    text = http(b"<pre>\n" + record(url=url(7)) + b"</pre>")
    liar = record(text, url=url(0)).replace(b"Content-Length: %d" % len(text), b"Content-Length: 99999", 1)
    found = read(b"".join(gzipped(liar, record(url=url(1)))))

    assert [url(0), url(1)] == urls(found)
    assert isinstance(found[0], Record)
    assert found[0].block is not None
    assert found[0].block.startswith(text)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\r\n", b"\r\r\r\n"])
@pytest.mark.parametrize("kind", ["warc", "arc"])
def test_heads_with_other_line_ends(kind: str, line_end: bytes) -> None:
    """A program that writes each LF as CR LF leaves CR CR LF: fields, block and the next record are found all the
    same, also behind a damage and where the length is missing."""

    def converted(part: bytes) -> bytes:
        head, blank, block = part.partition(b"\r\n\r\n" if kind == "warc" else b"\n")
        head = head.replace(b"Content-Length: ", b"X-Length: ") if block.startswith(page(2)) else head
        return (head + blank).replace(b"\r\n", b"\n").replace(b"\n", line_end) + block.rstrip(b"\r\n") + line_end * 2

    parts = [converted(part) for part in made(kind, 4)]
    found = read(b"".join([*parts[:2], b"damage\n", *parts[2:]]))
    blocks = [one.block for one in found if isinstance(one, Record)]

    assert expected_urls(kind, 4) == urls(found)
    assert [page(nth) for nth in range(4)] == blocks[-4:]


def test_fields_of_an_arc_of_version_2() -> None:
    """The five of version 1, and five more."""
    line = b"http://a.example/ 192.0.2.1 20080430204826 text/html 200 c0ffee - 1234 a.arc.gz 5\nhello\n"
    found = read(arc_header() + line)[1]

    assert isinstance(found, Record)
    assert ("response", "20080430204826", b"hello") == (found.kind, found.date, found.block)
    assert 10 == len(found.headers)
    assert {
        "url": "http://a.example/",
        "ip-address": "192.0.2.1",
        "archive-date": "20080430204826",
        "content-type": "text/html",
        "archive-length": "5",
        "result-code": "200",
        "checksum": "c0ffee",
        "location": "-",
        "offset": "1234",
        "filename": "a.arc.gz",
    } == dict(found.headers)


@pytest.mark.parametrize("fold", [b"\r\n ", b"\n\t", b"\r\n \t "])
def test_a_folded_field_is_one(fold: bytes) -> None:
    """A line that begins with a space or a tab goes on with the one before."""
    (found,) = read(record(url=url(0)).replace(b"example.org", b"example.org" + fold + b"behind"))

    assert isinstance(found, Record)
    assert "http://www.example.org behind/0" == found.url


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("members", [1, 3])
def test_content_of_more_than_one_step_of_a_decoder(coding: str, members: int) -> None:
    """Stored bytes are fed to it in steps, and what comes out of one step may be too much to be taken at once."""
    blocks = [Random(1).randbytes(50_000), bytes(3 << 20), Random(2).randbytes(50_000)]
    parts = [record(block, url=url(nth)) for nth, block in enumerate(blocks)]
    parts = parts if members == 3 else [b"".join(parts)]
    found = read(b"".join(map(CODINGS[coding], parts)), at_most(record_bytes=4 << 20))

    assert blocks == [one.block for one in found if isinstance(one, Record)]
    assert 3 == len(found)


@pytest.mark.parametrize("first", [b"", b"PK\x03\x04", made("warc")[0], made("arc")[0], gzipped(*made("warc"))[0]])
def test_a_head_that_may_be_of_an_archive_is_not_foreign(first: bytes) -> None:
    """Nor is that of a file in which nothing is yet; of a text the reason is named."""
    assert "" == foreign_head(first, LIMITS)
    assert foreign_head(b"text", LIMITS).startswith("neither WARC nor ARC; no record: begins with")
    assert "neither WARC nor ARC; nothing in it" == foreign_head(b"\r\n\r\n", LIMITS)


@pytest.mark.parametrize("cut", [5, 20, 200])
@pytest.mark.parametrize("most", [99, 1 << 20])
@pytest.mark.parametrize("ahead", [0, 9])
def test_member_cut_short_whose_record_claims_more(cut: int, most: int, ahead: int) -> None:
    """The member behind it, which a decoder takes for its rest, is read all the same; whatever was read ahead of it. No
    byte of it is the record's."""
    text = http(b"".join(b"%d " % (nth**9) for nth in range(500)))
    large = record(text, url=url(0)).replace(b"Content-Length: %d" % len(text), b"Content-Length: 99999")
    content = gzipped(large)[0][:-cut] + gzipped(record(url=url(1)))[0]
    first = b"".join(gzipped(*(arc_record(Random(nth).randbytes(20_000), url=url(8)) for nth in range(ahead))))
    found = read(first + content, at_most(record_bytes=most))

    assert [url(8)] * ahead + [url(0), url(1)] == urls(found)
    assert all(
        (text + b"\r\n\r\n").startswith(one.block or b"")
        for one in found
        if isinstance(one, Record) and one.url == url(0)
    )


@given(st.sampled_from(["warc", "arc"]), st.integers(1, 4), damages)
def test_damage_in_one_plain_record(kind: str, hit: int, damage: tuple[str, float, bytes]) -> None:
    """Damage costs one record also where nothing is compressed."""
    parts = made(kind)
    parts[hit] = damaged(parts[hit], *damage)
    blocks = [one.block for one in read(b"".join(parts)) if isinstance(one, Record)]
    sound = [page(nth) for nth in range(6)]
    first = hit - (kind == "arc")

    assert sound[:first] == [block for block in blocks if block in sound[:first]]
    assert sound[first + 2 :] == [block for block in blocks if block in sound[first + 2 :]]


@given(st.sampled_from(["warc", "arc"]), st.integers(200, 3000))
def test_damage_in_one_member_of_all(kind: str, at: int) -> None:
    """In an archive compressed as a whole, what can be inflated in front of a damage is read."""
    whole = made(kind, 40)
    content = gzip.compress(b"".join(whole), mtime=0)
    at = min(at, len(content) - 20)
    inflated = zlib.decompressobj(31).decompress(content[:at])
    ahead = sum(len(b"".join(whole[:nth])) <= len(inflated) for nth in range(1, 41))
    found = read(content[:at] + b"\xff" * 9 + content[at + 9 :])

    assert expected_urls(kind, 40)[:ahead] == urls(found)[:ahead]


@pytest.mark.parametrize("store", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_that_is_no_archive_is_not_searched_to_its_end(
    store: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A film that was given for an archive costs no more than its first stretch; all of it is counted as lost."""
    for module in (archive_file, inflated):
        monkeypatch.setattr(module, "FOREIGN_BYTES", 1 << 16)
    content = store(b"this is no archive\n" * 80_000 + made("warc")[0])

    assert [(0, len(content), Cause.FOREIGN)] == [
        (one.offset, one.length, one.cause) for one in read(content) if isinstance(one, Damage)
    ]
