import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import datasource as ds

from benchmarks.samples.sample_archive import write_archive
from dbce_spark.archive import http_message as http
from dbce_spark.archive.records import Record, records
from dbce_spark.errors import DbceError, InputError
from dbce_spark.html.charset import decode
from dbce_spark.spark.source import rows as of_record
from dbce_spark.spark.source.columns import BATCH_BYTES, NAMES, ON_DEMAND, columns
from dbce_spark.spark.source.options import KNOWN
from dbce_spark.spark.source.partitions import packed
from dbce_spark.spark.source.reader import WarcDataSource, WarcReader
from tests.support import builders
from tests.support.builders import arc_header, arc_record, archive, at_most, gzipped, record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DOCS = Path(__file__).parents[3] / "docs" / "source.md"
BROKEN_GZIP = b"\x1f\x8b\x08" + b"\0" * 40
UNKNOWN_CODING = builders.http(headers={"Content-Encoding": "gzip"}, html=b"\x1f\x8b\x08broken")


def reader(path: str | Path = "", **options: str | int | Path) -> WarcReader:
    """The reader of a load with these options."""
    given = {name: str(value) for name, value in options.items()} | ({"path": str(path)} if path else {})
    source = WarcDataSource(given)
    return source.reader(source.schema())


def batches(of: WarcReader) -> list[pa.RecordBatch]:
    return [batch for partition in of.partitions() for batch in of.read(partition)]


def rows(of: WarcReader) -> list[dict[str, Any]]:
    return [row for batch in batches(of) for row in batch.to_pylist()]


def values(column: str, path: str | Path = "", **options: str | int | Path) -> list[Any]:
    """One column of a load with these options."""
    return [row[column] for row in rows(reader(path, columns=column, **options))]


def plain(path: Path) -> list[tuple[Any, ...]]:
    """Read a file by a short reader without any of the source's code: offset, kind, URL, status, body, text."""
    found: list[tuple[Any, ...]] = []
    with path.open("rb") as stream:
        for one in records(stream, at_most(record_bytes=1 << 24)):
            assert isinstance(one, Record)
            response = http.parse(one.block or b"") if one.kind in ("response", "revisit") else None
            body = None if one.kind == "revisit" else one.block
            if response and body:
                body = http.decode_body(response, max_bytes=1 << 24, max_ratio=1 << 24).html
            is_page = bool(response) and body is not None and b"<html" in body
            text = decode(body, "").html.decode() if is_page and body is not None else None
            found.append((one.offset, one.kind, one.url or None, response.status if response else None, body, text))
    return found


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample archive, gzipped, and beside it a file that is not, and an ARC."""
    folder = tmp_path_factory.mktemp("source") / "sample"
    write_archive(folder, pages=12, seed=3)
    archive(folder / "plain.warc", record(url="http://plain.example/"), record(b"a: b", kind="metadata"))
    archive(folder / "old.arc.gz", *gzipped(arc_header(), arc_record(url="http://old.example/")))
    return folder


@pytest.fixture(scope="module")
def load(spark: "SparkSession") -> Callable[..., "DataFrame"]:
    """`load(paths, option=value)`, with the format registered."""
    from dbce_spark.spark.source import register

    register(spark)

    def loaded(paths: str | list[str], schema: str = "", **options: str) -> "DataFrame":
        start = spark.read.format("warc").options(**options)
        return (start.schema(schema) if schema else start).load(paths)

    return loaded


@pytest.mark.spark
def test_spark_reads_what_plain_python_reads(load: Callable[..., "DataFrame"], sample: Path) -> None:
    """Each record of gzipped, plain and ARC files is one row, with the values that a short reader finds."""
    files = sorted(sample.glob("*arc*"))
    found = load([str(path) for path in files]).collect()
    got = {
        path.name: sorted(
            (
                row.offset,
                row.kind,
                row.url,
                row.http_status,
                row.payload,
                row.content if "<html" in (row.content or "") else None,
            )
            for row in found
            if row.file == str(path)
        )
        for path in files
    }

    assert {path.name: sorted(plain(path)) for path in files} == got
    assert {"crawl-20220307-00000.warc.gz", "old.arc.gz", "plain.warc"} < set(got)


@pytest.mark.spark
def test_filters_of_where_are_pushed_and_change_nothing(load: Callable[..., "DataFrame"], sample: Path) -> None:
    """`where` gives the rows that it gives without pushing, and Spark is left with nothing to filter."""
    frame = load(str(sample), columns="kind,host,date,http_status,mime")
    where = (
        "kind = 'response' and http_status in (200, 404) and not mime = 'text/css' and host like 'www.%'"
        " and date >= timestamp'2022-09-01 00:00:00Z' and mime is not null"
    )
    chosen = frame.where(where)
    since = datetime(2022, 9, 1, tzinfo=UTC).timestamp()
    expected = [
        row
        for row in frame.collect()
        if row.kind == "response"
        and row.http_status in (200, 404)
        and row.mime not in (None, "text/css")
        and row.host.startswith("www.")
        and row.date.timestamp() >= since
    ]

    assert expected
    assert expected == chosen.collect()
    assert "Filter (" not in chosen._jdf.queryExecution().executedPlan().toString()


@pytest.mark.spark
def test_a_schema_prunes(load: Callable[..., "DataFrame"], sample: Path) -> None:
    """A schema of the user's names the columns that there are, and with an index only its records are read."""
    frame = load(
        [], "url string, http_status int", index=str(sample / "index.cdxj"), statuses="404", hosts="gazette.example"
    )
    rows = load([], "offset bigint", index=str(sample / "index.cdxj")).count()

    assert ["url", "http_status"] == frame.columns
    assert set() == {row.http_status for row in frame.collect()} - {404}
    assert rows == len((sample / "index.cdxj").read_text().splitlines())


@pytest.mark.spark
def test_spark_tells_what_is_wrong(load: Callable[..., "DataFrame"], tmp_path: Path) -> None:
    """A path that is not there is reported as load() is called, in our words."""
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match=r"nowhere\.warc: nothing to read is there"):
        load(str(tmp_path / "nowhere.warc"))


@pytest.mark.parametrize(
    ("asked", "message", "content", "text"),
    [
        ("url,headers,date,host", 0, 0, 0),
        ("http_status,http_headers,mime", 1, 0, 0),
        ("payload,mime_detected,defects", 1, 1, 0),
        ("content,charset,payload,http_status,damage", 1, 1, 1),
    ],
)
def test_what_is_not_asked_for_is_not_worked_out(
    asked: str, message: int, content: int, text: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is taken once for each record if a column needs it, and never if none does."""
    calls: Counter[str] = Counter()

    def counted(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            calls[name] += 1
            return step(*arguments, **named)

        return call

    monkeypatch.setattr(http, "parse", counted("message", http.parse))
    monkeypatch.setattr(http, "decode_body", counted("content", http.decode_body))
    monkeypatch.setattr(of_record, "decode", counted("text", decode))
    found = rows(reader(archive(tmp_path / "a.warc", record(), record()), columns=asked))

    assert 2 == len(found)
    assert {"message": 2 * message, "content": 2 * content, "text": 2 * text} == {
        name: calls[name] for name in ("message", "content", "text")
    }


def test_columns(tmp_path: Path) -> None:
    """The columns of a response."""
    block = builders.http("<p>caf\xe9!".encode("latin-1"), content_type="text/html; charset=latin1")
    path = archive(tmp_path / "a.warc.gz", *gzipped(record(block, url="http://www.Example.org:80/a")))
    (row,) = rows(reader(path, columns="*"))

    assert {
        "file": path,
        "offset": 0,
        "length": Path(path).stat().st_size,
        "kind": "response",
        "url": "http://www.Example.org:80/a",
        "host": "www.example.org",
        "date": datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
        "record_id": "<urn:uuid:0>",
        "block": block,
        "http_status": 200,
        "http_headers": [("content-type", "text/html; charset=latin1")],
        "mime": "text/html",
        "mime_detected": "text/html",
        "payload": b"<p>caf\xe9!",
        "charset": "windows-1252",
        "content": "<p>caf\xe9!",
        "defects": [],
        "damage": None,
        "damage_detail": None,
    } == {name: value for name, value in row.items() if name != "headers"}
    assert ("warc-type", "response") in row["headers"]
    assert list(NAMES) == list(row)


def test_a_page_that_ends_within_a_character(tmp_path: Path) -> None:
    """The half of a character is left out, and is not the end of the job."""
    path = archive(tmp_path / "a.warc", record(builders.http(b"<p>\xc3\xa9\xc3")))

    assert ["<p>\xe9"] == values("content", path)


def test_what_holds_no_response_is_its_own_payload(tmp_path: Path) -> None:
    """A conversion's payload is its block, and its type that of the record; a revisit has none."""
    text = record("Grüße".encode(), kind="conversion", Content_Type="text/plain")
    revisit = record(builders.http(b""), kind="revisit")
    path = archive(
        tmp_path / "a.wet", text.replace(b"Content-Type: application/http; msgtype=response\r\n", b""), revisit
    )
    found = rows(reader(path, columns="kind,mime,http_status,payload,content,damage"))

    assert [
        ("conversion", "text/plain", None, "Grüße".encode(), "Grüße", None),
        ("revisit", "text/html", 200, None, None, None),
    ] == [tuple(row.values()) for row in found]


def test_a_revisit_without_a_head_has_no_media_type(tmp_path: Path) -> None:
    """Its record names the type of a block that it has not. Filters of media types and statuses let it pass."""
    path = archive(tmp_path / "a.warc", record(), record(b"", kind="revisit"))

    assert [("response", "text/html"), ("revisit", None)] == [
        (row["kind"], row["mime"]) for row in rows(reader(path, columns="kind,mime", mimes="text/html", statuses="200"))
    ]


def test_permissive_tells_damage_in_a_row(tmp_path: Path) -> None:
    """By default bytes that are no record are a row; a record whose payload cannot be had keeps all the rest."""
    path = archive(tmp_path / "a.warc.gz", *gzipped(record()), BROKEN_GZIP, *gzipped(record(UNKNOWN_CODING)))
    found = rows(reader(path, columns="kind,offset,payload,damage"))

    assert [("response", None), (None, "broken_record"), ("response", "bad_encoding")] == [
        (row["kind"], row["damage"]) for row in found
    ]
    assert [False, True, True] == [row["payload"] is None for row in found]
    assert len(gzipped(record())[0]) == found[1]["offset"]


def test_a_payload_that_is_not_asked_for_is_not_damaged(tmp_path: Path) -> None:
    """Nobody looks at an encoding for the sake of a URL."""
    assert [None] == values("damage", archive(tmp_path / "a.warc", record(UNKNOWN_CODING)))


def test_dropmalformed_leaves_damage_out(tmp_path: Path) -> None:
    """A record that is damaged, or cannot be decoded, has no row."""
    path = archive(tmp_path / "a.warc.gz", *gzipped(record()), BROKEN_GZIP, *gzipped(record(UNKNOWN_CODING)))

    assert [b"<p>Hello world</p>"] == values("payload", path, mode="dropMalformed")


def test_failfast_ends_at_damage(tmp_path: Path) -> None:
    """The error names file, byte and reason, also where a filter would have left the record out."""
    path = archive(tmp_path / "a.warc.gz", *gzipped(record()), BROKEN_GZIP)
    strict = reader(path, mode="FAILFAST", columns="kind")
    strict.pushFilters([ds.EqualTo(("kind",), "request")])

    with pytest.raises(InputError, match=rf"a\.warc\.gz, byte {len(gzipped(record())[0])}: broken_record: "):
        rows(strict)


def test_a_file_that_went_away_is_a_row(tmp_path: Path) -> None:
    """A file that cannot be opened costs its own records only."""
    gone, there = (archive(tmp_path / name, record()) for name in ("a.warc", "b.warc"))
    of = reader(tmp_path, columns="file,damage")
    Path(gone).unlink()

    assert [(gone, "file_unreadable"), (there, None)] == [tuple(row.values()) for row in rows(of)]


def test_too_large_records_keep_their_heads(tmp_path: Path) -> None:
    """A record beyond the limit has its URL; its payload is damage when it is asked for."""
    path = archive(tmp_path / "a.warc", record(builders.http("x" * 5000)), record())

    assert [None, None] == values("damage", path, maxRecordBytes=1000)
    assert [("too_large", None), (None, b"<p>Hello world</p>")] == [
        (row["damage"], row["payload"]) for row in rows(reader(path, columns="damage,payload", maxRecordBytes=1000))
    ]
    assert [None, None, "too_large"] == [
        *values("damage", path),
        *[row["damage"] for row in rows(reader(path, columns="damage,payload", maxPayloadBytes=1000))][:1],
    ]


MADE = (
    record(url="http://a.example/1"),
    record(builders.http(status="404 Not Found"), url="http://b.example/2", date="2021-06-01T00:00:00Z"),
    record(builders.http(b"\x89PNG\r\n\x1a\n", content_type="image/png"), url="http://a.example/3"),
    record(builders.http(content_type=None), url="http://sub.a.example/4"),
    record(b"GET /", kind="request", url="http://a.example/1"),
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "12341"),
        ({"kinds": "request, metadata"}, "1"),
        ({"statuses": "404"}, "2"),
        ({"mimes": "text/html"}, "124"),
        ({"mimes": "image/*"}, "3"),
        ({"hosts": "a.example"}, "131"),
        ({"hosts": "a.example", "statuses": "200", "kinds": "response"}, "13"),
        ({"domains": "a.example"}, "1341"),
        ({"surts": "example,b) example,a)/3"}, "23"),
        ({"since": "2021", "until": "2021"}, "2"),
        ({"url": r"/[13]$"}, "131"),
        ({"languages": "de"}, "12341"),
    ],
)
def test_options_choose_records(options: dict[str, str], expected: str, tmp_path: Path) -> None:
    """Each filter leaves what fits it; a record that says nothing of its status or type does not fit."""
    path = archive(tmp_path / "a.warc", *MADE)

    assert expected == "".join(url[-1] for url in values("url", path, **options))


def test_files_are_sampled_by_name(tmp_path: Path) -> None:
    """A sample of files is the same wherever they lie, and part of every larger one."""
    for number in range(40):
        archive(tmp_path / f"{number}.warc", record(url=f"http://a.example/{number}"))
    quarter, half = (set(values("url", tmp_path, sampleFiles=share)) for share in ("0.25", "0.5"))

    assert 0 < len(quarter) < len(half) < 40
    assert quarter < half


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "response"}, "there is no option kind; did you mean kinds?"),
        ({"mode": "LENIENT"}, "option mode is 'LENIENT'; it must be one of PERMISSIVE, DROPMALFORMED, FAILFAST"),
        ({"columns": "url,title"}, "there is no column title; known are file, offset"),
        ({"statuses": "ok"}, "option statuses is 'ok'; write 200 or 200,404"),
        ({"mimes": "html"}, "select.mimes holds 'html'; write text/html"),
        ({"since": "yesterday"}, "'yesterday' is no date"),
        ({"maxRecordBytes": "64MB"}, "option maxRecordBytes is '64MB'; it must be a number of bytes from 1"),
        ({"sampleFiles": "0"}, "option sampleFiles is '0'; it must lie above 0"),
        ({"sampleFiles": "1e-9"}, "of 1 file that is none; give a larger share"),
        ({"index": "a.cdxj"}, "no paths beside the option index"),
        ({"path": ""}, "nothing to read: give load() paths, or the option index"),
        ({"path": "/nowhere/a.warc"}, "/nowhere/a.warc: nothing to read is there"),
    ],
)
def test_wrong_options_are_named(options: dict[str, str], message: str, tmp_path: Path) -> None:
    """The message says what is wrong, where, and what to write instead."""
    path = archive(tmp_path / "a.warc", record())
    with pytest.raises(DbceError) as raised:
        WarcDataSource({"path": path} | options)

    assert message in str(raised.value)


def test_a_wrong_schema_is_named(tmp_path: Path) -> None:
    """A column of another type than ours would be filled with nonsense."""
    from pyspark.sql.types import StringType, StructType

    with pytest.raises(InputError, match="column payload is binary, not string"):
        columns(StructType().add("payload", StringType()))
    with pytest.raises(InputError, match="the schema has no column"):
        columns(StructType())


@pytest.mark.parametrize(
    ("pushed", "expected"),
    [
        ([ds.EqualTo(("host",), "a.example")], "131"),
        ([ds.Not(ds.EqualTo(("host",), "a.example"))], "24"),
        ([ds.EqualTo(("http_status",), 404)], "2"),
        ([ds.Not(ds.EqualTo(("http_status",), 404))], "134"),
        ([ds.IsNull(("http_status",))], "1"),
        ([ds.Not(ds.IsNull(("http_status",)))], "1234"),
        ([ds.In(("mime",), ("image/png", "application/http"))], "31"),
        ([ds.StringStartsWith(("url",), "http://sub.")], "4"),
        ([ds.GreaterThan(("date",), datetime(2021, 1, 1, tzinfo=UTC)), ds.EqualTo(("kind",), "response")], "2"),
    ],
)
def test_pushed_filters_are_those_of_sql(pushed: list[ds.Filter], expected: str, tmp_path: Path) -> None:
    """A filter keeps what SQL keeps: what has no value is neither equal nor unequal."""
    of = reader(archive(tmp_path / "a.warc", *MADE), columns="url")

    assert [] == list(of.pushFilters(pushed))
    assert expected == "".join(row["url"][-1] for row in rows(of))


def test_filters_that_heads_cannot_answer_are_left_to_spark(tmp_path: Path) -> None:
    """Of a payload, of a part of a column, in local time: Spark asks those."""
    of = reader(archive(tmp_path / "a.warc", record()))
    left: list[ds.Filter] = [
        ds.EqualTo(("damage",), "x"),
        ds.EqualTo(("headers", "warc-type"), "x"),
        ds.GreaterThan(("date",), datetime(2021, 1, 1)),
        ds.EqualNullSafe(("url",), None),
    ]

    assert left == list(of.pushFilters(left))


def test_an_index_leads_to_the_same_rows(sample: Path) -> None:
    """Each line of an index gives the row that a reading of the whole file gives, by whatever ranges."""
    names = ",".join(set(NAMES) - ON_DEMAND)
    whole = {(row["file"], row["offset"]): row for row in rows(reader(sample / "crawl-*.gz", columns=names))}
    of = reader(index=sample / "index.cdxj", columns=names, partitionBytes=20_000)
    found = rows(of)

    assert len(of.partitions()) > 3
    assert len((sample / "index.cdxj").read_text().splitlines()) == len(found)
    assert [whole[row["file"], row["offset"]] for row in found] == found


def test_a_bad_line_of_an_index_is_a_row(sample: Path, tmp_path: Path) -> None:
    """Neither a line nor a file that an index names and that cannot be had is lost silently."""
    line = (sample / "index.cdxj").read_text().splitlines()[0]
    index = tmp_path / "index.cdxj"
    index.write_text(f"{line}\nexample,a)/ 2020 nonsense\n")

    assert ["broken_index_line", "fetch_failed"] == values("damage", index=index)
    assert [None] == values("damage", index=index, base=str(sample), mode="DROPMALFORMED")


def test_revisits_that_are_not_wanted_are_not_fetched(sample: Path) -> None:
    """An index tells which of its lines are revisits."""
    of = reader(index=sample / "index.cdxj", kinds="response")
    asked = [entry for part in of.partitions() for found in getattr(part, "entries").values() for entry in found]  # noqa: B009

    assert asked
    assert not [entry for entry in asked if entry.is_revisit]


def test_a_wacz_names_its_files_as_its_index_does(sample: Path, tmp_path: Path) -> None:
    """The same record has the same place, read through or by the index."""
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as made:
        for path in sample.glob("crawl-*.gz"):
            made.write(path, f"archive/{path.name}")
        made.write(sample / "index.cdxj", "indexes/index.cdxj")
    through = {(row["file"], row["offset"]) for row in rows(reader(tmp_path / "a.wacz", columns="file,offset"))}
    by_index = {(row["file"], row["offset"]) for row in rows(reader(index=tmp_path / "a.wacz", columns="file,offset"))}

    assert by_index
    assert by_index < through


def test_batches_are_bounded(tmp_path: Path) -> None:
    """A task holds no more than some MB of rows and the row that goes beyond."""
    path = archive(tmp_path / "a.warc", *(record(builders.http("x" * (1 << 20))) for _ in range(20)))
    found = batches(reader(path, columns="payload,content"))

    assert 20 == sum(batch.num_rows for batch in found)
    assert max(batch.nbytes for batch in found) <= BATCH_BYTES + (2 << 20) + 1000


@given(st.lists(st.integers(0, 1 << 28)), st.integers(1, 1 << 28))
def test_packs_are_all_in_their_order_and_none_too_large(sizes: Sequence[int], most: int) -> None:
    """Together the packs are the list; one of several things is not larger than asked."""
    packs = list(packed(list(enumerate(sizes)), most, opening=0))

    assert list(range(len(sizes))) == [thing for pack in packs for thing in pack]
    assert all(len(pack) == 1 or sum(sizes[thing] for thing in pack) <= most for pack in packs)


def test_documents_name_every_column_and_option() -> None:
    """docs/source.md has a row for each."""
    cells = [line.split("|")[1] for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    documented = {word.strip(" `") for cell in cells for word in cell.split(",")}

    assert {*NAMES, *KNOWN} == documented
