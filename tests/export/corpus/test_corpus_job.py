"""A corpus: what is written of an output, and the account of it."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.config import CorpusConfig
from dbce_spark.dbce import duplicates as oracle
from dbce_spark.dbce.texts import Text
from dbce_spark.errors import InputError, OutputError
from dbce_spark.export import corpus
from dbce_spark.export.corpus import corpus_account, corpus_source
from dbce_spark.files import parquet, storage
from dbce_spark.output.collection import REMARKED, Collection
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.run.extraction_files import SCHEMA
from tests.support import sample_collection as grown
from tests.support.builders import config, marked_batch
from tests.support.corpus_outputs import Row, text_of, write
from tests.support.exports import written
from tests.support.full_disks import full_disk

CONFIG = replace(config().corpus, min_words=3)
FILES: dict[str, Sequence[Row]] = {
    "site_part=0/part-00000.parquet": [
        Row(name="a", parts=text_of(5)),
        Row(name="short", parts=text_of(2)),
        Row(name="b", parts=text_of(6), duplicate_of="a"),
        Row(name="nothing", parts=[("menu", "boilerplate", 0.1)], language=""),
        Row(name="c", parts=text_of(6), duplicate_of="a", copy_of="b", repeats="near"),
        Row(name="unlikely", parts=text_of(6, 0.2), language="de"),
    ],
    "site_part=2/part-00001.parquet": [
        Row(name="d", site="other.example", status="single", parts=text_of(7), language="de"),
        Row(name="e", site="other.example", parts=text_of(1)),
    ],
    "site_part=2/part-00002.parquet": [Row(name="f", site="other.example", parts=[("menu", "boilerplate", 0.1)])],
}


@pytest.fixture
def output(tmp_path: Path) -> str:
    return write(tmp_path / "output", FILES)


def made(output: str, to: Path | str, settings: CorpusConfig = CONFIG, **options: Any) -> str:
    return corpus.write(corpus.CorpusRequest(output=output, target=str(to), **options), settings)


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each file."""
    files = sorted((folder / "extractions").rglob("*.parquet"))
    return {
        str(path.relative_to(folder / "extractions")): pq.read_table(path, partitioning=None).to_pylist()
        for path in files
    }


def ids(folder: Path) -> list[str]:
    return [row["capture_id"] for some in rows(folder).values() for row in some]


def test_what_is_kept_is_written_as_it_was(output: str, tmp_path: Path) -> None:
    """Kept rows have all columns, their marks and probability, in files of the same names; a file without kept rows is
    not written."""
    made(output, tmp_path / "corpus")
    found = rows(tmp_path / "corpus")
    (first,) = found["site_part=0/part-00000.parquet"]
    stored = pq.read_table(Path(output) / "extractions" / "site_part=0" / "part-00000.parquet", partitioning=None)

    assert ["site_part=0/part-00000.parquet", "site_part=2/part-00001.parquet"] == [*found]
    assert ["a", "d"] == ids(tmp_path / "corpus")
    assert stored.to_pylist()[0].items() <= first.items()
    assert {*first} - {*SCHEMA.names} == {*corpus_source.MARKS, "probability"}
    assert first["probability"] == pytest.approx(0.9)


def test_duplicates_may_stay(output: str, tmp_path: Path) -> None:
    """All of them, or all but copies; each says what it is a duplicate of, and a row without a text says nothing."""
    made(output, tmp_path / "exact", replace(CONFIG, duplicates="exact"))
    made(output, tmp_path / "keep", replace(CONFIG, duplicates="keep", min_words=0, min_probability=0.0))
    every = [row for some in rows(tmp_path / "keep").values() for row in some]

    assert ["a", "b", "d"] == ids(tmp_path / "exact")
    assert [row.duplicate_of for rows_of in FILES.values() for row in rows_of] == [one["duplicate_of"] for one in every]
    assert [None, None] == [one["same_url"] for one in every if one["capture_id"] in ("nothing", "f")]


def test_every_row_is_accounted_for(output: str, tmp_path: Path) -> None:
    """In all, by site and by language, rows in are rows removed and rows left."""
    printed = made(output, tmp_path / "corpus")
    account = json.loads((tmp_path / "corpus" / "corpus.json").read_text())
    removed = {"words": 4, "probability": 1, "duplicates": 2}

    assert (9, removed, 2) == (account["in"], account["removed"], account["left"])
    assert {"in": 33, "removed": {"words": 3, "probability": 6, "duplicates": 12}, "left": 12} == account["words"]
    assert (2, ["example.org", "other.example"]) == (account["sites"], [*account["by_site"]])
    assert {"in": 2, "removed": {"words": 0, "probability": 1, "duplicates": 0}, "left": 1} == account["by_language"][
        "de"
    ]
    for part in [account, *account["by_site"].values(), *account["by_language"].values()]:
        assert part["in"] == sum(part["removed"].values()) + part["left"]
    assert printed + "\n" == (tmp_path / "corpus" / "corpus.md").read_text()
    assert "| - words       | 3 words or more " in printed


def test_a_corpus_is_an_output(output: str, tmp_path: Path) -> None:
    """The run.json of a corpus counts removed rows as skipped, so that all records are accounted for, and a corpus can
    be made of it."""
    made(output, tmp_path / "corpus", replace(CONFIG, duplicates="keep"))
    run = json.loads((tmp_path / "corpus" / "run.json").read_text())
    made(str(tmp_path / "corpus"), tmp_path / "again")

    assert run["records_read"] == run["extractions"] + sum(run["skipped"].values())
    assert {"mime": 3, "corpus:words": 4, "corpus:probability": 1} == run["skipped"]
    assert (3, 1) == (run["crossed"], run["single"])
    assert ["a", "d"] == ids(tmp_path / "again")


def test_what_a_filter_removed_twice_is_counted_twice(output: str, tmp_path: Path) -> None:
    """In a corpus of a corpus, too, every record is accounted for: its filters removed rows at both times."""
    loose = replace(CONFIG, duplicates="keep", min_words=2, min_probability=0.0)
    made(output, tmp_path / "corpus", loose)
    made(str(tmp_path / "corpus"), tmp_path / "again", replace(loose, min_words=6))
    run = json.loads((tmp_path / "again" / "run.json").read_text())

    assert {"mime": 3, "corpus:words": 5} == run["skipped"]
    assert run["records_read"] == run["extractions"] + sum(run["skipped"].values())


def test_formats_are_kept_and_counted(tmp_path: Path) -> None:
    """Each row has its Markdown, and the account says how many of those that are left have any."""
    files = {
        "site_part=0/part-00000.parquet": [
            Row(name="a", parts=text_of(5), markdown="# word"),
            Row(name="b", parts=text_of(6)),
            Row(name="short", parts=text_of(1), markdown="word"),
        ]
    }
    made(write(tmp_path / "output", files), tmp_path / "corpus")
    account, run = (json.loads((tmp_path / "corpus" / name).read_text()) for name in ("corpus.json", "run.json"))
    (found,) = rows(tmp_path / "corpus").values()

    assert [("a", "# word"), ("b", None)] == [(row["capture_id"], row["markdown"]) for row in found]
    assert {"markdown": 1} == account["formats"] == run["formats"]


def test_columns_may_be_chosen(output: str, tmp_path: Path) -> None:
    """Columns are written in the named order; an unknown one is refused before anything is written."""
    made(output, tmp_path / "corpus", columns=["text", "url", "probability"])
    with pytest.raises(InputError, match="--columns: html5 is no column; there are capture_id, "):
        made(output, tmp_path / "other", columns=["html5"])

    assert [["text", "url", "probability"]] * 2 == [[*some[0]] for some in rows(tmp_path / "corpus").values()]
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"min_words": 1_000}, "removed are 9 by words$"),
        ({"languages": ("fr",)}, r"removed are 9 by language; language is en \(6\), de \(2\)$"),
        ({"page_types": ("article",)}, "removed are 9 by page_type"),
    ],
)
def test_a_corpus_of_nothing_is_not_written(output: str, tmp_path: Path, wanted: dict[str, Any], message: str) -> None:
    """The error has what each filter removed, and what there is; the same place can be given again."""
    with pytest.raises(InputError, match=rf"none of its 9 rows is left, so nothing is written; {message}"):
        made(output, tmp_path / "corpus", replace(CONFIG, **wanted))

    assert not (tmp_path / "corpus").exists()


def test_paths_of_archives_may_be_relative(tmp_path: Path) -> None:
    """To a folder that all lie in; else nothing is written."""
    crawls = [Row(name=name, parts=text_of(5), warc_file=f"/home/me/{name}/x.warc") for name in ("a", "b")]
    output = write(tmp_path / "output", {"site_part=0/part-00000.parquet": crawls})
    made(output, tmp_path / "corpus", relative_to="/home/me/")
    with pytest.raises(InputError, match=r"--relative-to /home/me/a: /home/me/b/x\.warc is not there; give a folder"):
        made(output, tmp_path / "other", relative_to="/home/me/a")
    (found,) = rows(tmp_path / "corpus").values()

    assert ["a/x.warc", "b/x.warc"] == [row["warc_file"] for row in found]
    assert not (tmp_path / "other").exists()


def test_a_corpus_of_nothing_replaces_none(output: str, tmp_path: Path) -> None:
    """With --overwrite too: the earlier one stays until there is a row to write."""
    made(output, tmp_path / "corpus")
    before = written(tmp_path / "corpus")
    with pytest.raises(InputError, match="none of its 9 rows is left"):
        made(output, tmp_path / "corpus", replace(CONFIG, sites=("example.com",)), overwrite=True)

    assert before == written(tmp_path / "corpus")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"sites": ("Other.example",)}, ["d"]),
        ({"languages": ("DEU",)}, ["d"]),
        ({"statuses": ("crossed",)}, ["a"]),
    ],
)
def test_rows_are_filtered_as_those_of_an_export(
    output: str, tmp_path: Path, wanted: dict[str, Any], expected: list[str]
) -> None:
    """The filters are the same, and the account has how many rows each removed."""
    made(output, tmp_path / "corpus", replace(CONFIG, **wanted))
    account = json.loads((tmp_path / "corpus" / "corpus.json").read_text())
    first = account["filters"][0]["filter"]

    assert expected == ids(tmp_path / "corpus")
    assert next(iter(wanted)).startswith(first)
    assert account["removed"][first]
    assert account["in"] == sum(account["removed"].values()) + 1


def test_a_corpus_of_a_corpus_needs_what_its_filters_read(output: str, tmp_path: Path) -> None:
    """One of some columns is read by filters that need no others; the error names what lacks, and those filters."""
    columns = ["url", "site", "status", "language", "text_words"]
    made(output, tmp_path / "some", columns=columns)
    with pytest.raises(
        OutputError, match=r"no column probability, duplicate_of; .*; or give --min-probability 0, --dup"
    ):
        made(str(tmp_path / "some"), tmp_path / "again")
    made(str(tmp_path / "some"), tmp_path / "again", replace(CONFIG, min_probability=0.0, duplicates="keep"))
    made(output, tmp_path / "more", columns=[*columns, "probability", "duplicate_of"])
    made(str(tmp_path / "more"), tmp_path / "of-more")
    made(output, tmp_path / "few", columns=["url", "text"])
    with pytest.raises(
        OutputError, match=r"has no column site, status, language, text_words, .*make the output again$"
    ):
        made(str(tmp_path / "few"), tmp_path / "of-few")

    assert [columns] * 2 == [[*some[0]] for some in rows(tmp_path / "again").values()]
    assert [2, 2] == [sum(map(len, rows(tmp_path / name).values())) for name in ("again", "of-more")]


def test_an_output_without_duplicates(tmp_path: Path) -> None:
    """Without a table of duplicates they cannot be removed; a corpus that keeps them has no marks."""
    output = write(tmp_path / "output", FILES, marks=False)
    with pytest.raises(OutputError, match=r"has no table of duplicates; .*--duplicates keep"):
        made(output, tmp_path / "corpus")
    made(output, tmp_path / "corpus", replace(CONFIG, duplicates="keep"))

    assert ["a", "b", "c", "d"] == ids(tmp_path / "corpus")
    assert "duplicate_of" not in rows(tmp_path / "corpus")["site_part=0/part-00000.parquet"][0]


def test_duplicates_of_another_run_are_noticed(output: str, tmp_path: Path) -> None:
    """Rows that do not stand beside theirs are an error, not wrong marks."""
    path = Path(output) / "duplicates" / "site_part=0" / "part-00000.parquet"
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.take(pa.array([1, 0, *range(2, len(table))])), path)

    with pytest.raises(OutputError, match="does not belong to"):
        made(output, tmp_path / "corpus")


def test_nothing_is_overwritten_without_the_option(output: str, tmp_path: Path) -> None:
    """An earlier corpus is replaced with --overwrite only; an output, and a folder with anything else, never; nor
    by itself."""
    made(output, tmp_path / "corpus")
    with pytest.raises(OutputError, match="exists; give another --output, or --overwrite"):
        made(output, tmp_path / "corpus")
    made(output, tmp_path / "corpus", replace(CONFIG, languages=("de",)), overwrite=True)
    with pytest.raises(OutputError, match="holds duplicates, which no corpus has"):
        made(str(tmp_path / "corpus"), output, overwrite=True)
    with pytest.raises(OutputError, match="is what the corpus is made of; give another --output"):
        made(str(tmp_path / "corpus"), f"{tmp_path}/corpus/", overwrite=True)

    assert ["d"] == ids(tmp_path / "corpus")
    assert (Path(output) / "run.json").exists()


def test_a_folder_of_somebody_is_not_overwritten(output: str, tmp_path: Path) -> None:
    """A folder without corpus.json is that of a corpus by what its extractions are called; an unfinished one is."""
    own = tmp_path / "mine" / "extractions" / "notes.txt"
    own.parent.mkdir(parents=True)
    own.write_text("of teeth")
    with pytest.raises(OutputError, match=r"holds notes\.txt, which no corpus has"):
        made(output, tmp_path / "mine", overwrite=True)
    made(output, tmp_path / "corpus")
    for name in ("corpus.json", "corpus.md", "run.json"):
        (tmp_path / "corpus" / name).unlink()
    made(output, tmp_path / "corpus", replace(CONFIG, languages=("de",)), overwrite=True)

    assert "of teeth" == own.read_text()
    assert ["d"] == ids(tmp_path / "corpus")


def test_a_corpus_on_a_full_disk_leaves_nothing(output: str, tmp_path: Path) -> None:
    """The error names the corpus and says what to do; the same command can be given again."""
    with full_disk(2_000), pytest.raises(OutputError, match=r"corpus: cannot be written: .*; make room, and give the"):
        made(output, tmp_path / "corpus")

    assert [] == [one for one in (tmp_path / "corpus").rglob("*") if one.is_file()]
    made(output, tmp_path / "corpus")


def test_a_corpus_is_not_written_over_itself(output: str, tmp_path: Path) -> None:
    """Nor where a link leads to it: its rows would be gone before they are read."""
    made(output, tmp_path / "corpus")
    (tmp_path / "link").symlink_to(tmp_path / "corpus")
    with pytest.raises(OutputError, match="link is what the corpus is made of; give another --output"):
        made(str(tmp_path / "corpus"), tmp_path / "link", overwrite=True)

    assert 3 == len([one for one in (tmp_path / "corpus").iterdir() if one.is_file()])


def test_what_is_no_output_is_refused(tmp_path: Path) -> None:
    """A folder without run.json holds no finished output."""
    with pytest.raises(OutputError, match=r"no run\.json that can be read there"):
        made(str(tmp_path), tmp_path / "corpus")


def test_sites_are_reported_up_to_a_number(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sites with the most captures are listed, and all are counted."""
    monkeypatch.setattr(corpus_account, "SITES", 1)
    made(output, tmp_path / "corpus")
    found = json.loads((tmp_path / "corpus" / "corpus.json").read_text())

    assert (2, ["example.org"]) == (found["sites"], [*found["by_site"]])


def test_however_many_rows_are_held_the_corpus_is_the_same(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows at once give the same files as all at once."""
    made(output, tmp_path / "all")
    monkeypatch.setattr(corpus_source, "_ROWS", 2)
    made(output, tmp_path / "two")
    expected, found = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("all", "two")
    )

    assert expected == found


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder of a store that is none of this machine's file systems."""
    name = f"memory://{uuid4().hex}"
    yield name
    fsspec.filesystem("memory").rm(name.removeprefix("memory:/"), recursive=True)


def test_from_a_store_to_a_store(memory: str, tmp_path: Path) -> None:
    """Paths may be URLs."""
    made(write(f"{memory}/output", FILES), f"{memory}/corpus")
    made(write(tmp_path / "output", FILES), tmp_path / "corpus")
    local = (tmp_path / "corpus" / "extractions" / "site_part=2" / "part-00001.parquet").read_bytes()

    assert {"extractions", "corpus.json", "corpus.md", "run.json"} == storage.list_names(f"{memory}/corpus")
    with fsspec.open(f"{memory}/corpus/extractions/site_part=2/part-00001.parquet") as file:
        assert local == file.read()


def test_the_command(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`dbce corpus` filters by its options and prints the table; a mistake is one line."""
    options = ["--min-words", "3", "--language", "de", "--status", "single", "--duplicates", "exact", "--within", "url"]
    status = main(["corpus", output, "--output", str(tmp_path / "corpus"), *options, "--columns", "url,text"])
    printed = capsys.readouterr().out
    again = main(["corpus", output, "--output", str(tmp_path / "corpus")])

    assert (0, 2) == (status, again)
    assert (tmp_path / "corpus" / "corpus.md").read_text() == printed
    assert ["- status", "- language", "- words", "- probability", "- duplicates"] == [
        line.split("|")[1].strip() for line in printed.splitlines()[3:-1]
    ]
    assert "http://other.example/d" == rows(tmp_path / "corpus")["site_part=2/part-00001.parquet"][0]["url"]


def test_a_corpus_of_a_collection(collected: Path, tmp_path: Path) -> None:
    """Has of each capture the row that counts, with what is said of its duplicates beside it; no two files of
    increments have one name."""
    made(str(collected), tmp_path / "corpus", replace(CONFIG, duplicates="keep", min_words=0, min_probability=0.0))
    result = grown.whole(collected)
    marks = {one.text.capture_id: one.mark.duplicate_of for one in result.duplicates}
    found = [row for some in rows(tmp_path / "corpus").values() for row in some]

    assert sorted(grown.texts(result).items()) == sorted((row["capture_id"], row["text"]) for row in found)
    assert marks == {row["capture_id"]: row["duplicate_of"] for row in found if row["text_words"]}
    assert any(marks.values())
    assert len(found) == json.loads((tmp_path / "corpus" / "run.json").read_text())["extractions"]


def test_a_corpus_of_a_collection_is_an_output(collected: Path, tmp_path: Path) -> None:
    """A corpus can be made of it: it has no rows that stand for earlier ones, which those of increments do."""
    every = replace(CONFIG, duplicates="keep", min_words=0, min_probability=0.0)
    made(str(collected), tmp_path / "corpus", every)
    made(str(tmp_path / "corpus"), tmp_path / "again", every)

    assert ids(tmp_path / "corpus") == ids(tmp_path / "again")


def test_newer_marks_of_a_duplicate_count(collected: Path, tmp_path: Path) -> None:
    """An increment that marks captures of earlier ones anew counts; what an earlier one says anew of a capture that
    was written later is not."""
    to = Collection(str(shutil.copytree(collected, tmp_path / "c")))
    first, last = (ids_of(to, number) for number in (1, 3))
    replaced = {one for path in (to.files(to.current(), "superseded")) for one in ids_in(path[1])}
    stays, later = min({*first} - replaced), min(last)
    anew = [oracle.MarkedText(text(one), mark) for one, mark in ((stays, MARK), (later, MARK))]
    path = f"{to.increment(2)}/{REMARKED}/part-00000.parquet"
    parquet.write(path, duplicate_rows.DUPLICATES, [marked_batch(anew)])
    made(to.folder, tmp_path / "corpus", replace(CONFIG, duplicates="keep", min_words=0, min_probability=0.0))
    found = {row["capture_id"]: row["copy_of"] for some in rows(tmp_path / "corpus").values() for row in some}

    assert ("other", True) == (found[stays], found[later] != "other")


MARK = oracle.Mark(duplicate_of="other", similarity=1.0, same_url=False, copy_of="other", repeats=None, steps=0)


def text(capture_id: str) -> Text:
    return Text(capture_id=capture_id, url_key="u", timestamp=0, digest="d", signature=None)


def ids_of(to: Collection, number: int) -> list[str]:
    """The captures that an increment has marks of."""
    paths = [path for at, path in to.files(to.current(), "duplicates") if at == number]
    return [one for path in paths for one in ids_in(path)]


def ids_in(path: str) -> list[str]:
    found: list[str] = pq.read_table(path).column("capture_id").to_pylist()
    return found


def test_a_corpus_of_a_version(collected: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` takes an earlier one; an increment without a comparison has no marks of duplicates."""
    collection = shutil.copytree(collected, tmp_path / "c")
    shutil.rmtree(collection / "increments" / "00000003" / "duplicates")
    options = [
        "corpus",
        str(collection),
        "--output",
        str(tmp_path / "corpus"),
        "--min-words",
        "0",
        "--min-probability",
        "0",
    ]
    refused = main(options)
    printed = capsys.readouterr().err
    status = main([*options, "--version", "2", "--duplicates", "exact"])
    found = {row["capture_id"] for some in rows(tmp_path / "corpus").values() for row in some}
    copies = {one.text.capture_id for one in grown.whole(collected, 2).duplicates if one.mark.copy_of}

    assert (2, 0) == (refused, status)
    assert "has no table of duplicates" in printed
    assert {*grown.texts(grown.whole(collected, 2))} - copies == found
