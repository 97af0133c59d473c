"""Damaged members: what is known of a record before it is handed out, and what the damage costs."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from io import BytesIO
from random import Random

import lz4.frame
import pytest
import zstandard

from dbce_spark.archive.records import Damage, Flaw, Record, checked_member
from dbce_spark.archive.records.archive_file import ArchiveFile
from dbce_spark.archive.records.checked_member import CheckedMember
from tests.support.builders import arc_record, at_most, gzipped, http, record
from tests.support.record_bytes import LIMITS, read, url, urls

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd with checksum": zstandard.ZstdCompressor(write_checksum=True).compress,
    "lz4": lz4.frame.compress,
    "lz4 of large blocks": lambda content: lz4.frame.compress(content, block_size=lz4.frame.BLOCKSIZE_MAX4MB),
    "lz4 with checksum": lambda content: lz4.frame.compress(content, content_checksum=True),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
WORDS = [b"%d" % (nth**3) for nth in range(2, 3000)]


def page(nth: int, words: int = 6000) -> bytes:
    """A page whose words are of no order, so that it compresses little, but in every coding."""
    return http(b"<p>%d " % nth + b" ".join(Random(nth).choices(WORDS, k=words)))


def table(nth: int) -> bytes:
    """A page whose rows are alike, so that a decoder that is led astray goes far."""
    rows = b"".join(b"<tr><td>show %d<td>user%d<td>%d:%02dpm\n" % (k % 7, k % 5, k % 12, k % 60) for k in range(2000))
    return http(b"<title>%d</title>" % nth + rows)


def made(*blocks: bytes) -> list[bytes]:
    return [record(block, url=url(nth)) for nth, block in enumerate(blocks)]


ALL = [page(nth) for nth in range(6)]


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


def whole(found: list[Record | Damage]) -> list[tuple[str, bytes]]:
    """The URLs and blocks of the records that have no flaw."""
    return [(one.url, one.block or b"") for one in found if isinstance(one, Record) and not one.flaw]


@pytest.mark.parametrize(
    ("coding", "wrong"), [("gzip", 5), ("gzip", 1), ("zstd with checksum", 1), ("lz4 with checksum", 1), ("xz", 40)]
)
def test_record_of_a_member_that_fails_its_check_is_flawed(coding: str, wrong: int) -> None:
    """A damage names the record, though no byte is lost; the others are as they were."""
    blocks = [page(nth) for nth in range(3)]
    parts = [CODINGS[coding](one) for one in made(*blocks)]
    parts[1] = flipped(parts[1], len(parts[1]) - wrong)
    found = read(b"".join(parts))
    flawed = [one for one in found if isinstance(one, Record) and one.flaw]
    (damage,) = (one for one in found if isinstance(one, Damage))

    assert blocks[1].startswith((flawed[0].block or b"")[: len(blocks[1]) - 64])
    assert len(flawed[0].block or b"") > len(blocks[1]) - 64
    assert [(url(0), blocks[0]), (url(2), blocks[2])] == whole(found)
    assert [(url(1), Flaw.DAMAGED)] == [(one.url, one.flaw) for one in flawed]
    assert (url(1), "<urn:uuid:0>", True) == (damage.url, damage.record_id, damage.cause.is_loss)


def test_content_in_front_of_a_wrong_checksum_of_bz2_is_kept() -> None:
    """A decoder gives its last content together with the error, but for a few bytes."""
    content = CODINGS["bz2"](made(page(0))[0])
    flawed, damage = read(flipped(content, 11))  # the checksum of the block, in front of it

    assert isinstance(flawed, Record)
    assert (Flaw.DAMAGED, damage.url) == (flawed.flaw, url(0))
    assert page(0)[:-100] == (flawed.block or b"")[: len(page(0)) - 100]


def test_damaged_block_comes_out_in_few_pieces() -> None:
    """One of bz2 may hold forty megabytes: only what comes behind what the decoder gave before comes bit by bit."""
    content = flipped(bz2.compress(bytes(9 << 20)), 11)
    member = CheckedMember(ArchiveFile(BytesIO(content), LIMITS), 0, lambda: 0)
    pieces = [out for out, _ in member.content()]

    assert 9 << 20 == pytest.approx(sum(map(len, pieces)), abs=100)
    assert len(pieces) < 17_000


def test_small_pieces_that_are_held_ahead_are_no_more_than_memory_has() -> None:
    """A frame of blocks of one byte, which takes four: each piece of it takes 130 bytes of memory."""
    blocks = b"\x0a\0\0x" * 100_000
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + blocks + b"\x01\0\0"
    member = CheckedMember(ArchiveFile(BytesIO(frame), LIMITS), 0, lambda: 0)
    pieces = member.content()
    first = next(pieces)

    assert len(member._ahead) < 70_000
    assert b"x" * 100_000 == b"".join(out for out, _ in [first, *pieces])


@pytest.mark.parametrize("is_damaged", [True, False])
def test_records_of_a_member_of_bz2_have_places_in_it(is_damaged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder of bz2 takes in what is behind its member, too, and says so only where that ends."""
    monkeypatch.setattr(checked_member, "_AHEAD", 1 << 20)
    content = CODINGS["bz2"](b"".join(record(bytes(700_000), url=url(nth)) for nth in range(9)))
    found = read((flipped(content, len(content) - 3) if is_damaged else content) + gzipped(record(url=url(9)))[0])

    assert [url(nth) for nth in range(10)] == urls(found)
    assert len(content) == next(one.offset for one in found if isinstance(one, Record) and one.url == url(9))


def test_record_in_front_of_a_damaged_member_has_no_flaw() -> None:
    """Nor if that holds line ends at first, and no record then."""
    with_care = made(page(0))[0].replace(b"Content-Length", b"content-length")
    (one, two, three) = gzipped(with_care, b"\r\n\r\ngarbage", record(url=url(2)))
    found = read(one + flipped(two, len(two) - 5) + three)

    assert [(url(0), page(0)), (url(2), http())] == whole(found)
    assert [""] == [one.url for one in found if isinstance(one, Damage)]


@pytest.mark.parametrize("make", [page, table])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8])
def test_member_cut_short_costs_no_other_record(make: Callable[[int], bytes], kept: float) -> None:
    """Its decoder runs on into the next member, perhaps to its end; what came of that is in no record."""
    blocks = [make(nth) for nth in range(4)]
    parts = gzipped(*made(*blocks))
    parts[1] = parts[1][: int(kept * len(parts[1]))]
    found = read(b"".join(parts))
    cut = next(one for one in found if isinstance(one, Record) and one.url == url(1))

    assert [(url(nth), blocks[nth]) for nth in (0, 2, 3)] == whole(found)
    assert (Flaw.CUT, len(parts[1])) == (cut.flaw, cut.length)
    assert blocks[1].startswith(cut.block or b"")


@pytest.mark.parametrize("missing", range(9, 40))
def test_last_words_in_front_of_a_cut_are_kept(missing: int) -> None:
    """Also where one step of the decoder holds the end of the member and all of the next one."""
    text = http(b"<p>" + b"".join(b"%d " % (nth**5) for nth in range(40)))
    (one, two) = gzipped(*made(text, http()))
    cut, other = read(one[:-missing] + two)

    assert isinstance(cut, Record)
    assert isinstance(other, Record)
    assert (True, True) == (len(cut.block or b"") > 200, text.startswith(cut.block or b""))
    assert (cut.block != text, http()) == (cut.is_short, other.block)


def test_record_whose_member_lacks_only_its_checksum_is_whole() -> None:
    """Its length says so."""
    (one, two) = gzipped(*made(page(0), page(1)))

    assert [(url(0), page(0)), (url(1), page(1))] == whole(read(one[:-8] + two))


@pytest.mark.parametrize(("behind", "flaws"), [(b"", [None, None]), (b"\0" * 50, [Flaw.CUT, None])])
def test_record_of_the_right_length_in_a_cut_member_is_whole_only_if_nothing_follows(
    behind: bytes, flaws: list[Flaw | None]
) -> None:
    """A decoder that goes through zeros gives some content, also of the length that is declared."""
    compressor = zlib.compressobj(wbits=31)
    open_member = compressor.compress(made(page(0))[0] + behind) + compressor.flush(zlib.Z_FULL_FLUSH)
    found = read(open_member + gzipped(record(url=url(1)))[0])

    assert flaws == [one.flaw for one in found if isinstance(one, Record)]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("how", ["cut", "garbage"])
def test_members_behind_a_damage_are_found(coding: str, how: str) -> None:
    """Though nothing comes out of a member of zstd, lz4 or bz2 before all of its first block is read."""
    blocks = [page(nth, 15_000) for nth in range(4)]
    parts = [CODINGS[coding](one) for one in made(*blocks)]
    half = len(parts[1]) // 2
    parts[1] = parts[1][:half] if how == "cut" else parts[1][:half] + b"\xff" * 999 + parts[1][half + 999 :]

    assert all(len(part) > 30_000 for part in parts if part is not parts[1])
    assert {url(0), url(2), url(3)} <= {found for found, _ in whole(read(b"".join(parts)))}


def test_all_records_of_a_damaged_member_are_flawed() -> None:
    """Nobody knows where in it a byte is wrong; the damage says how many they are."""
    blocks = [page(nth, 500) for nth in range(5)]
    content = gzip.compress(b"".join(made(*blocks)), mtime=0)
    found = read(flipped(content, len(content) - 5))
    *records, damage = found

    assert [(url(nth), Flaw.DAMAGED) for nth in range(5)] == [
        (one.url, one.flaw) for one in records if isinstance(one, Record)
    ]
    assert isinstance(damage, Damage)
    assert (url(4), True) == (damage.url, "5 records" in damage.detail)


def test_records_far_in_front_of_a_damage_have_no_flaw(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member may be larger than what is inflated ahead: what came out before was not damaged as far as is known."""
    monkeypatch.setattr(checked_member, "_AHEAD", 60_000)
    blocks = [page(nth, 4000) for nth in range(9)]
    content = gzip.compress(b"".join(made(*blocks)), mtime=0)
    found = read(flipped(content, len(content) - 5) + gzipped(record(url=url(9)))[0])
    flaws = [one.flaw for one in found if isinstance(one, Record)]

    assert [(url(nth), block) for nth, block in enumerate(blocks)][: flaws.index(Flaw.DAMAGED)] == whole(found)[:-1]
    assert 3 < flaws.index(Flaw.DAMAGED) < 8
    assert [Flaw.DAMAGED] * (9 - flaws.index(Flaw.DAMAGED)) + [None] == flaws[flaws.index(Flaw.DAMAGED) :]


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_record_over_members_of_which_one_is_damaged_is_flawed(nth: int) -> None:
    """Members that know nothing of records (BGZF): the records in front are whole."""
    content = b"".join(made(page(0, 100), page(1), page(2)))
    parts = gzipped(*(content[at : at + 10_000] for at in range(0, len(content), 10_000)))
    parts[nth] = flipped(parts[nth], len(parts[nth]) - 5)
    found = read(b"".join(parts))

    assert [(url(0), page(0, 100))] == whole(found)
    assert Flaw.DAMAGED in [one.flaw for one in found if isinstance(one, Record) and one.url == url(1)]


@pytest.mark.parametrize("how", ["plain", "gz"])
@pytest.mark.parametrize("less", [1, 20, 2000])
def test_length_that_is_too_small_is_a_flaw(how: str, less: int) -> None:
    """The bytes behind the block are lost, and their damage has the URL."""
    parts = made(page(0), page(1), page(2))
    size = len(page(1))
    parts[1] = parts[1].replace(b"Length: %d" % size, b"Length: %d" % (size - less))
    found = read(b"".join(gzipped(*parts) if how == "gz" else parts))

    assert [None, Flaw.UNDERSTATED, None] == [one.flaw for one in found if isinstance(one, Record)]
    assert [url(1)] == [one.url for one in found if isinstance(one, Damage) and one.cause.is_loss]
    assert [True] == [one.is_short for one in found if isinstance(one, Record) and one.url == url(1)]


def test_junk_behind_the_end_of_a_record_is_no_flaw_of_it() -> None:
    """Its block and the lines behind it are there."""
    one, two = made(page(0), page(1))
    without_lines = one.rstrip(b"\r\n")
    for content in (
        one + b"junk\n" + two,
        b"".join(gzipped(one + b"junk\n", two)),
        b"".join(gzipped(one, b"junk\n")),
        b"".join(gzipped(without_lines, b"junk\n")),
    ):
        found = read(content)

        assert [None] * len(urls(found)) == [one.flaw for one in found if isinstance(one, Record)]
        assert [""] == [one.url for one in found if isinstance(one, Damage)]


@pytest.mark.parametrize("how", ["plain", "gz"])
@pytest.mark.parametrize("kind", ["warc", "arc"])
def test_block_whose_length_is_too_large_to_be_true_is_kept(kind: str, how: str) -> None:
    """A length beyond the limit that is a lie does not cost the record."""
    parts = made(page(0), page(1), page(2))
    if kind == "arc":
        parts = [arc_record(page(nth), url=url(nth)) for nth in range(3)]
    size = b"%d" % len(page(1))
    parts[1] = parts[1].replace(b" " + size, b" 70000000", 1)
    found = read(b"".join(gzipped(*parts) if how == "gz" else parts), at_most(record_bytes=100_000))
    lying = next(one for one in found if isinstance(one, Record) and one.url == url(1))

    assert [page(0), page(2)] == [one.block for one in found if isinstance(one, Record) and one is not lying]
    assert lying.block is not None
    assert page(1) == lying.block.rstrip(b"\r\n")
    assert lying.is_short


def test_block_that_is_too_large_is_none_whatever_its_length_is() -> None:
    """More is there than may be kept."""
    for declared in (b"200000", b"70000000"):
        large = record(bytes(150_000), url=url(1)).replace(b"Length: 150000", b"Length: " + declared)
        found = read(b"".join(gzipped(record(url=url(0)), large, record(url=url(2)))), at_most(record_bytes=100_000))

        assert [False, True, False] == [one.block is None for one in found if isinstance(one, Record)]


def test_text_of_a_damaged_member_begins_no_record() -> None:
    """A member that is stored as it is shows the heads of all its records."""
    parts = made(*ALL)
    several = gzip.compress(b"".join(parts[1:4]), 0, mtime=0)
    found = read(b"".join([*gzipped(parts[0]), flipped(several, 10), *gzipped(*parts[4:])]))

    assert 3 == several.count(b"WARC/1.0\r\nWARC-Type")
    assert [url(0), url(4), url(5)] == urls(found)


def test_plain_records_behind_a_damaged_member_are_found() -> None:
    """No member follows, so they are no text of the damaged one."""
    parts = made(page(0), page(1), page(2))
    found = read(gzipped(parts[0])[0][:-3000] + parts[1] + parts[2])

    assert [(url(1), page(1)), (url(2), page(2))] == whole(found)


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        (b"application/http; msgtype=response", "response"),
        (b'application/http;msgtype="request"', "request"),
        (b"text/html", "unknown"),
    ],
)
def test_kind_of_a_record_without_one(content_type: bytes, kind: str) -> None:
    """The message that its Content-Type names gives it."""
    without = record().replace(b"WARC-Type: response\r\n", b"")
    (found,) = read(without.replace(b"application/http; msgtype=response", content_type), LIMITS)

    assert isinstance(found, Record)
    assert kind == found.kind
