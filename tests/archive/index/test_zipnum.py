"""ZipNum clusters: only blocks that can hold what is wanted are read."""

import gzip
from pathlib import Path

import pytest

from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_file import IndexPart, list_parts, read_part, without_shards
from dbce_spark.archive.index.zipnum import Block, block_of, is_secondary, join_blocks
from tests.support.indexes import (
    FETCH,
    cdx_line,
    cdxj_line,
    entry,
    faults_in,
    found_in,
    offsets_in,
    select,
    write_lines,
    write_zipnum,
)
from tests.support.range_server import served

ENTRIES = [
    entry(urlkey=f"org,site{nth // 10:02})/{nth % 10}", url=f"http://site{nth // 10:02}.org/{nth % 10}", offset=nth)
    for nth in range(300)
]
LINES = [cdxj_line(one) for one in ENTRIES]


@pytest.mark.parametrize("line", [cdxj_line, cdx_line])
def test_cluster_is_read_whole(tmp_path: Path, line: object) -> None:
    """Blocks of CDXJ or CDX, in several shards, give every line once and in order."""
    assert callable(line)
    path = write_zipnum(tmp_path, [line(one) for one in ENTRIES], per_block=7, shards=3)

    assert list(range(300)) == offsets_in(path)


@pytest.mark.parametrize("site", [0, 7, 13, 29])
@pytest.mark.parametrize("per_block", [1, 7, 10, 300])
def test_only_blocks_of_a_site_are_read(tmp_path: Path, site: int, per_block: int) -> None:
    """A domain is found in the blocks around it, also where it begins in the middle of one."""
    path = write_zipnum(tmp_path, LINES, per_block=per_block, shards=min(3, 300 // per_block))
    counts = FilterCounts()
    found = found_in(path, counts=counts, domains=(f"site{site:02}.org",))

    assert [site * 10 + nth for nth in range(10)] == [one.offset for one in found if hasattr(one, "offset")]
    assert counts.read <= 10 + 2 * per_block


def test_prefixes_that_meet_are_read_once(tmp_path: Path) -> None:
    """Prefixes in one another, in any order, give each line once."""
    path = write_zipnum(tmp_path, LINES, per_block=7)

    assert [50] == offsets_in(path, surts=("org,site05)/0", "org,site05)/0"))
    assert list(range(50, 60)) == offsets_in(path, surts=("org,site05)/3", "org,site05", "org,site05)/"))


def test_cluster_on_a_server(tmp_path: Path) -> None:
    """Few ranges of a remote cluster are requested, not its shards."""
    idx = Path(write_zipnum(tmp_path, LINES, per_block=7))
    shard = (tmp_path / "cdx-00000.gz").read_bytes()
    with served(cluster__idx=idx.read_bytes()) as site:
        site.files["/cdx-00000.gz"] = shard
        site.troubles = ["status 503"]
        actual = offsets_in(f"{site.url}/cluster.idx", domains=("site05.org",))
        of_shard = [last + 1 - first for path, first, last in site.asked if path == "/cdx-00000.gz"]

    assert list(range(50, 60)) == actual
    assert sum(of_shard) < len(shard) / 5


def test_shards_beside_their_index_are_not_read_twice(tmp_path: Path) -> None:
    """A folder of a cluster names the shards too; the secondary index stands for them."""
    path = write_zipnum(tmp_path, LINES, per_block=10, shards=2)
    shards = [str(tmp_path / f"cdx-0000{nth}.gz") for nth in range(2)]
    other = write_lines(tmp_path / "other.cdxj", [cdxj_line(entry(offset=999))])

    assert [path, other] == without_shards([path, *shards, other], FETCH)
    assert [*range(300), 999] == offsets_in(*shards, path, other)
    assert list(range(300)) == offsets_in(*shards)


def test_index_of_a_wacz_beside_its_shard(tmp_path: Path) -> None:
    """Its lines are JSON, and its first line names the shard."""
    data = gzip.compress("".join(f"{line}\n" for line in LINES[:5]).encode())
    (tmp_path / "index.cdx.gz").write_bytes(data)
    lines = [
        '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}',
        f'org,site00)/0 20200102120000 {{"offset": 0, "length": {len(data)}}}',
    ]
    path = write_lines(tmp_path / "index.idx", lines)

    assert [0, 1, 2, 3, 4] == offsets_in(path)
    assert [2] == offsets_in(path, surts=("org,site00)/2",))


def test_line_without_a_url_is_of_no_secondary_index() -> None:
    """A line of CDXJ that leaves its URL out has the media type or the status of a capture, which a block has not."""
    place = '"offset": "0", "length": "9", "filename": "a.warc.gz"'
    before = ("", '"status": "200", ', '"mime": "text/html", ')

    assert [True, False, False] == [is_secondary(f"org,example)/ 2020 {{{fields}{place}}}") for fields in before]


GOOD = "org,a) 2020\tcdx-00000.gz\t0\t{}\t1"


def placed(length: str) -> str:
    """Write a line that describes the first block with this length."""
    return 'org,a) 2020 {"filename": "cdx-00000.gz", "offset": 0, "length": LENGTH}'.replace("LENGTH", length)


BROKEN = {
    "shard is gone": (["org,a) 2020\tcdx-9.gz\t0\t100\t1"], [(0, "index_unreadable")]),
    "shard leads out": (["org,a) 2020\t../cdx-0.gz\t0\t100\t1"], [(-1, "unsafe_path")]),
    "line is none": (["org,a) 2020\tcdx-00000.gz\t0\t{}\t1", "nonsense"], [(-1, "broken_index_line")]),
    "block is no index": (["org,a) 2020\tnotes.txt\t0\t10\t1"], [(0, "not_an_index")]),
    "block is cut": (["org,a) 2020\tcdx-00000.gz\t0\t9999\t1"], [(0, "index_unreadable")]),
    "block is too long": (["org,a) 2020\tcdx-00000.gz\t0\t99999999999\t1"], [(-1, "broken_index_line")]),
    "length has 5,000 digits": ([GOOD, "org,a) 2020\tcdx-00000.gz\t0\t" + "9" * 5000], [(-1, "broken_index_line")]),
    "length is infinite": ([GOOD, placed("1e999")], [(-1, "broken_index_line")]),
    "length is negative": ([GOOD, placed("-1")], [(-1, "broken_index_line")]),
    "JSON is too deep": ([GOOD, placed("[" * 10_000 + "]" * 10_000)], [(-1, "broken_index_line")]),
    "first line is too deep": ([placed("[" * 10_000 + "]" * 10_000)], [(0, "not_an_index")]),
    "meta line is too deep": (['!meta 0 {"a": ' + "[" * 10_000, GOOD], []),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_cluster(tmp_path: Path, name: str) -> None:
    """Whatever is wrong is one fault, and no exception."""
    write_zipnum(tmp_path, LINES[:3], per_block=3)
    (tmp_path / "notes.txt").write_text("0123456789")
    size = (tmp_path / "cdx-00000.gz").stat().st_size
    lines, expected = BROKEN[name]
    path = write_lines(tmp_path / "broken.idx", [line.replace("{}", str(size)) for line in lines])

    assert expected == faults_in(path)


def test_blocks_are_joined_up_to_a_limit() -> None:
    """Only blocks that follow each other in one shard, and not above so many bytes."""
    blocks = [
        Block("a", "s", 0, 10),
        Block("b", "s", 10, 10),
        Block("c", "s", 20, 10),
        Block("d", "s", 31, 1),
        Block("e", "t", 32, 1),
    ]
    actual = ["".join(block.first for block in group) for group in join_blocks(blocks, 20)]

    assert ["ab", "c", "d", "e"] == actual


def test_line_of_a_secondary_index() -> None:
    """With the number of the line behind it or without."""
    expected = Block("org,a)/ 2020", "cdx-00000.gz", 5, 7)

    assert expected == block_of("org,a)/ 2020\tcdx-00000.gz\t5\t7\t1", None)
    assert expected == block_of("org,a)/ 2020\tcdx-00000.gz\t5\t7", None)
    assert expected == block_of('org,a)/ 2020 {"offset": 5, "length": 7}', "cdx-00000.gz")


@pytest.mark.parametrize(("surts", "pieces"), [((), 22), (("org,example)/2", "org,example)/077"), 9)])
def test_parts_of_a_cluster_are_the_whole_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surts: tuple[str, ...], pieces: int
) -> None:
    """Cut into pieces of its secondary index, each line is read once, from the blocks where filters may pass."""
    monkeypatch.setattr("dbce_spark.archive.index.index_file._PART_BYTES", 80)
    written = [cdxj_line(entry(urlkey=f"org,example)/{at:03}", offset=at)) for at in range(300)]
    path = write_zipnum(tmp_path, written, per_block=7, shards=3)
    chosen = selection(select(surts=surts))
    found = [*list_parts([path], chosen, FETCH)]
    wanted = [one for part in found for one in read_part(part, "", chosen, FETCH, FilterCounts())]

    assert pieces == len(found)
    assert [at for at in range(300) if not surts or f"{at:03}".startswith(("2", "077"))] == [
        one.offset for one in wanted if isinstance(one, IndexEntry)
    ]


def test_cluster_that_has_become_shorter(tmp_path: Path) -> None:
    """The lines that are left of a part are read, and its end is not waited for."""
    path = write_zipnum(tmp_path, LINES[:14], per_block=7)
    part = IndexPart(path, 0, Path(path).stat().st_size + 100)
    found = read_part(part, "", selection(select()), FETCH, FilterCounts())

    assert list(range(14)) == [one.offset for one in found if isinstance(one, IndexEntry)]
