"""Collections that are put together: the same rows in fewer files, while readers and writers go on."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.errors import OutputError
from dbce_spark.files import parquet
from dbce_spark.output.collection import FORMAT, Collection, Increment, Version
from dbce_spark.output.current_rows import table_files
from dbce_spark.output.schemas import (
    capture_rows,
    duplicate_rows,
    increment_rows,
    member_rows,
    reject_rows,
    revisit_rows,
)
from dbce_spark.output.stored_rows import opened
from dbce_spark.spark.jobs import compaction_job, increment_job
from dbce_spark.spark.run import run_lock, staging
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.full_disks import full_disk
from tests.support.nfs import keep_open_files
from tests.support.sample_collection import PARAMETERS

SETTINGS = {"config": {"label": {"by": "T002", "favor": "balanced"}}}
EXTRACTIONS = pa.schema([("capture_id", pa.string()), ("text", pa.string()), ("text_words", pa.int32())])


def write(folder: str, table: str, schema: pa.Schema, *rows: dict[str, Any], file: str = "part-00000") -> None:
    whole = [{name: row.get(name) for name in schema.names} for row in rows]
    batch = pa.RecordBatch.from_pylist(whole, schema=schema)
    parquet.write(f"{folder}/{table}/{file}.parquet", schema, [batch], dictionary=["capture_id"])


def extend(of: Collection, number: int, **texts: str) -> None:
    """An increment that says these texts of captures, whose sites and URLs are the first letters of their names."""
    folder = of.increment(number)
    known = (
        {
            row["capture_id"]
            for batch in table_files(of, of.current(), "captures").batches(rows=50)
            for row in batch.to_pylist()
        }
        if number > 1
        else set()
    )
    write(folder, "extractions/site_part=0", EXTRACTIONS)
    for part in (0, 1):
        some = [
            {"capture_id": one, "text": text, "text_words": len(text.split())}
            for one, text in texts.items()
            if ord(one[0]) % 2 == part
        ]
        write(folder, f"extractions/site_part={part}", EXTRACTIONS, *some)
        marks = [{"capture_id": one["capture_id"], "copy_of": str(number)} for one in some if one["text_words"]]
        if marks:
            write(folder, f"duplicates/site_part={part}", duplicate_rows.DUPLICATES, *marks)
    write(folder, "superseded", increment_rows.SUPERSEDED, *({"capture_id": one} for one in texts if one in known))
    digests = ({"capture_id": one, "digest": text} for one, text in texts.items())
    write(folder, "evidence_digests", increment_rows.DIGESTS, *digests)
    new = [one for one in sorted(texts) if one not in known]
    times = {one: datetime(2026, 1, 30 - number, tzinfo=UTC) for one in new}
    write(
        folder,
        "captures",
        capture_rows.CAPTURES,
        *({"capture_id": one, "url_key": one[0], "timestamp": times[one]} for one in new),
    )
    write(
        folder, "members", member_rows.MEMBERS, *({"capture_id": one, "site": one[0], "file_no": number} for one in new)
    )
    reasons = ("no_text", "revisit_unresolved")
    write(folder, "rejects", reject_rows.REJECTS, *({"url": f"{number}", "reason": reason} for reason in reasons))
    write(folder, "pending", revisit_rows.REVISITS, {"url": f"pending of {number}"})
    for at in range(number):  # of the second increment two files, of the third three
        write(folder, "pages", EXTRACTIONS, {"text": f"page file {at} of {number}"}, file=f"{at:08}")
    Path(folder, "inputs.json").write_text(json.dumps({f"crawl-{number}.warc": number}))
    counts = {"page_files": number, "captures": len(new), "extractions": len(new), "relabelled": len(texts) - len(new)}
    run = {
        **{name: {} for name in ("skipped", "seconds", "config", "versions")},
        "rejects": dict.fromkeys(reasons, 1),
        "failed_files": {"count": 0, "of": 1, "first": {}},
        "plan": "",
        "largest_bucket": 0,
        "pages_per_second_per_core": 0.0,
        "settings": SETTINGS,
        "format": FORMAT,
    }
    Path(folder, "run.json").write_text(json.dumps(counts | run))
    increment_job.commit(of, number)


@pytest.fixture
def grown(tmp_path: Path) -> Collection:
    """Three increments: the second says something else of `a1`, the third of `a1` and `b1`, which has no text then. The
    second and the third mark `c1` anew, and the third `a2`."""
    of = Collection(str(tmp_path / "c"))
    extend(of, 1, a1="one", b1="one", c1="one")
    extend(of, 2, a1="two", a2="two")
    extend(of, 3, a1="three", b1="", b3="three")
    for number, some in ((2, ["c1"]), (3, ["a2", "c1"])):
        anew = [{"capture_id": one, "copy_of": f"anew in {number}"} for one in some]
        write(of.increment(number), "remarked", duplicate_rows.DUPLICATES, *anew)
    return of


def rows(of: Collection, version: Version) -> dict[str, list[str]]:
    return {
        table: sorted(
            str(row) for batch in table_files(of, version, table).batches(rows=50) for row in batch.to_pylist()
        )
        for table in ("extractions", "duplicates", "captures", "rejects", "members")
    }


def table(of: Collection, name: str) -> list[dict[str, Any]]:
    """All rows of a table that lie there, file by file."""
    return [
        row for _, path in of.files(of.current(), name) for row in pq.read_table(path, partitioning=None).to_pylist()
    ]


def test_what_counts_is_the_same(grown: Collection) -> None:
    """Each row that counted, and no other, in one increment; the versions before stay."""
    before = grown.current()
    expected = rows(grown, before)
    made = compaction_job.run(grown, 1000)

    assert made == grown.current()
    assert (4, "compact") == (made.number, made.why)
    assert [Increment(number=4, page_files=6, captures=5, extractions=5, relabelled=0)] == [*made.increments]
    assert expected == rows(grown, made) == rows(grown, before)
    assert 5 == len(table(grown, "extractions"))
    assert [] == grown.files(made, "superseded")
    assert before.settings == made.settings


def test_what_later_runs_ask_is_there(grown: Collection) -> None:
    """Pages under their numbers, the last digests, which files were read, whose originals may come, each account."""
    inputs = grown.inputs(grown.current())
    compaction_job.run(grown, 1000)
    folder = Path(grown.increment(4))

    pages = [pq.read_table(folder / f"pages/{at:08}.parquet")["text"][0].as_py() for at in range(6)]
    assert ["0 of 1", "0 of 2", "1 of 2", "0 of 3", "1 of 3", "2 of 3"] == [
        one.removeprefix("page file ") for one in pages
    ]
    digests = {row["capture_id"]: row["digest"] for row in table(grown, "evidence_digests")}
    assert {"a1": "three", "a2": "two", "b1": "", "b3": "three", "c1": "one"} == digests
    assert ["pending of 3"] == [row["url"] for row in table(grown, "pending")]
    assert inputs == grown.inputs(grown.current()) == {f"crawl-{number}.warc": number for number in (1, 2, 3)}
    assert ["00000001.json", "00000002.json", "00000003.json"] == sorted(
        one.name for one in (folder / "runs").iterdir()
    )


def test_rows_are_in_order_as_readers_expect_them(grown: Collection) -> None:
    """Captures by URL and time, which skips row groups; members by site."""
    compaction_job.run(grown, 1000)

    assert ["a2", "a1", "b3", "b1", "c1"] == [row["capture_id"] for row in table(grown, "captures")]
    assert ["a1", "a2", "b1", "b3", "c1"] == [row["capture_id"] for row in table(grown, "members")]


def test_no_more_files_are_open_than_may_be(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many increments they are merged in rounds, to the same rows in the same order, and nothing of that stays."""
    for number in range(4, 8):
        extend(grown, number, **{f"a{number}": "more", f"b{number}": "more"})
    names = ("captures", "members")
    open_now, most = 0, 0

    @contextmanager
    def counted(path: str) -> Iterator[pq.ParquetFile]:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        try:
            with opened(path) as file:
                yield file
        finally:
            open_now -= 1

    compaction_job.run(grown, 1000)
    expected = [table(grown, name) for name in names]
    grown.rollback(7)
    monkeypatch.setattr(compaction_job, "_OPEN_FILES", 2)
    monkeypatch.setattr(compaction_job, "opened", counted)
    compaction_job.run(grown, 1000)

    assert expected == [table(grown, name) for name in names]
    assert (0, 2) == (open_now, most)
    assert "_merged" not in {one.name for one in Path(grown.increment(10)).iterdir()}


def test_files_are_cut_where_they_are_full(grown: Collection) -> None:
    """None has more rows than it may, and the site parts stay apart."""
    compaction_job.run(grown, 2)
    files = [str(Path(path).relative_to(grown.increment(4))) for _, path in grown.files(grown.current(), "extractions")]

    assert [2, 2, 1] == [pq.read_metadata(Path(grown.increment(4), one)).num_rows for one in files]
    assert [1, 2] == [sum(f"site_part={part}/" in one for one in files) for part in (0, 1)]


def test_duplicates_stand_beside_their_extractions(grown: Collection) -> None:
    """In files of the same names and in the same order, those that have a text; what was said anew last counts."""
    compaction_job.run(grown, 2)
    folder = Path(grown.increment(4))
    copies = {row["capture_id"]: row["copy_of"] for row in table(grown, "duplicates")}
    of_texts = {
        path.relative_to(folder / "extractions"): [
            row["capture_id"] for row in pq.read_table(path, partitioning=None).to_pylist() if row["text_words"]
        ]
        for path in sorted((folder / "extractions").rglob("*.parquet"))
    }

    assert {"a1": "3", "a2": "anew in 3", "b3": "3", "c1": "anew in 3"} == copies
    assert {name: ids for name, ids in of_texts.items() if ids} == {
        path.relative_to(folder / "duplicates"): pq.read_table(path, partitioning=None)["capture_id"].to_pylist()
        for path in sorted((folder / "duplicates").rglob("*.parquet"))
    }
    assert not (folder / "remarked").exists()


def test_it_goes_on_from_there(grown: Collection) -> None:
    """A later increment stands above it, can be put together with it, and old ones go when nobody needs them."""
    compaction_job.run(grown, 1000)
    extend(grown, 5, a1="five", d5="five")
    expected = rows(grown, grown.current())
    made = compaction_job.run(grown, 1000)
    assert made
    grown.vacuum(1)

    assert [6] == [one.number for one in made.increments]
    assert ["00000006"] == [one.name for one in Path(grown.folder, "increments").iterdir()]
    assert expected == rows(grown, made)
    assert 11 == made.increments[0].page_files
    assert "page file 4 of 5" == pq.read_table(f"{grown.increment(6)}/pages/00000010.parquet")["text"][0].as_py()
    assert 4 == len([*Path(grown.increment(6), "runs").iterdir()])


def test_one_increment_stays_as_it_is(grown: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time there is nothing to be done, and the command says so."""
    for _ in range(2):
        assert 0 == main(["collection", "compact", grown.folder])
    printed = capsys.readouterr().out

    assert "compact" in printed.splitlines()[1]
    assert f"{grown.folder} is one increment, and stays as it is" in printed
    assert [1, 2, 3, 4] == grown.numbers()


def test_a_compaction_that_was_killed_is_not_seen(grown: Collection) -> None:
    """Neither by readers nor by the next, which clears what it has left."""
    left = Path(grown.folder, "increments/_compacting/captures")
    left.mkdir(parents=True)
    (left / "part-00007.parquet").write_text("half a file")

    assert compaction_job.run(grown, 1000)
    assert not left.parent.exists()
    assert ["part-00000.parquet"] == [one.name for one in Path(grown.increment(4), "captures").iterdir()]


def test_it_ends_well_on_nfs(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock stays until it is let go; a compaction that fails says why all the same."""
    keep_open_files(monkeypatch)
    compaction_job.run(grown, 1000)
    extend(grown, 5, a3="five")
    monkeypatch.setattr(compaction_job, "_keep_runs", _interrupted)

    assert [1, 2, 3, 4, 5] == grown.numbers()
    with pytest.raises(KeyboardInterrupt):
        compaction_job.run(grown, 1000)


def test_one_that_had_ended_is_made_a_version(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed behind its last file, it is what the next run begins with, and stands for all before it."""
    with monkeypatch.context() as killed:
        killed.setattr(increment_job, "commit", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            compaction_job.run(grown, 1000)
    assert [1, 2, 3] == grown.numbers()
    increment_job.commit(grown, 4)

    assert [4] == [one.number for one in grown.current().increments]
    assert 5 == len(table(grown, "extractions"))


def test_one_that_had_ended_is_made_a_version_by_the_same_command(
    grown: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second compaction gives that version, and names no run that there was not."""
    with monkeypatch.context() as killed:
        killed.setattr(increment_job, "commit", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            compaction_job.run(grown, 1000)

    made = compaction_job.run(grown, 1000)

    assert grown.version(4) == made
    assert compaction_job.run(grown, 1000) is None


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"captures": 1}'])
def test_an_ended_increment_without_an_account_is_no_version(grown: Collection, text: str) -> None:
    """Its run.json, which a disk has changed, is named, and what to do about it."""
    path = Path(grown.increment(4), "run.json")
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(OutputError, match=rf"{path} is no report of a run: .*: remove {path.parent}, and give"):
        compaction_job.run(grown, 1000)
    assert [1, 2, 3] == grown.numbers()


def _interrupted(*given: Any) -> None:
    raise KeyboardInterrupt


def test_all_of_it_is_on_the_disk_before_it_is_a_version(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file, the names in each folder, and its own name last: power that fails would leave an account that is
    empty, and `vacuum` no way back."""
    synced: list[int] = []
    sync, commit = os.fsync, increment_job.commit

    def noted(number: int) -> None:
        synced.append(os.fstat(number).st_ino)
        sync(number)

    def committed(of: Collection, number: int) -> None:
        folder = Path(of.increment(number))
        files = [one for one in folder.rglob("*") if staging.FOLDER not in one.parts]
        left = [str(one.relative_to(folder)) for one in (folder, *files) if one.stat().st_ino not in synced]
        assert ([], folder.parent.stat().st_ino) == (left, synced[-1])
        commit(of, number)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(increment_job, "commit", committed)

    assert compaction_job.run(grown, 1000)


def test_who_extends_it_meanwhile_wins(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that has begun the next increment keeps it, and the compaction says so and leaves nothing."""

    def extended(*given: Any) -> None:
        Path(grown.increment(4), "_staging").mkdir(parents=True)

    monkeypatch.setattr(compaction_job, "_keep_runs", extended)
    with pytest.raises(OutputError, match="changed by another command meanwhile"):
        compaction_job.run(grown, 1000)

    assert [1, 2, 3] == grown.numbers()
    assert ["_staging"] == [one.name for one in Path(grown.increment(4)).iterdir()]
    assert not Path(grown.folder, "increments/_compacting").exists()


def test_an_increment_of_another_version_is_not_looked_for(grown: Collection) -> None:
    """A run that ends after the collection was rolled back fails with a message, and nothing is changed."""
    grown.rollback(1)

    with pytest.raises(OutputError, match="was changed meanwhile: version 4 is there"):
        increment_job.commit(grown, 4)
    assert [1, 2, 3, 4] == grown.numbers()


def test_an_increment_may_be_made_a_version_by_another_run(grown: Collection) -> None:
    """The run that wrote it then ends well: it was found there before its own process had come so far."""
    extend(grown, 4, a4="four")
    increment_job.commit(grown, 4)

    assert [1, 2, 3, 4] == grown.numbers()


def test_an_increment_that_is_made_a_version_later_keeps_nothing_staged(grown: Collection) -> None:
    """Its run was killed behind its last file: the next one removes what it had left, unless it is still at work."""
    counts = dict.fromkeys(("page_files", "captures", "extractions", "relabelled"), 0)
    Path(grown.increment(4), "_staging/texts").mkdir(parents=True)
    Path(grown.increment(4), "run.json").write_text(json.dumps({**counts, "settings": SETTINGS, "format": FORMAT}))
    latest = increment_job.with_ended(grown)

    assert latest == grown.version(4)
    assert ["run.json"] == [one.name for one in Path(grown.increment(4)).iterdir()]


def test_a_collection_keeps_the_sites_that_it_was_begun_with(collected: Path, tmp_path: Path) -> None:
    """Pages of another site are never compared; which files count as failed may change."""
    to = Collection(str(shutil.copytree(collected, tmp_path / "c")))
    request = RunRequest(files=["more.warc"], output="", with_html=False, limit=None, started=0.0)
    to.commit(replace(to.current(), number=4, settings=increment_job._settings(request.plan(PARAMETERS))))
    by_host, reading = (
        replace(PARAMETERS, input=replace(PARAMETERS.input, **changed))
        for changed in ({"site": "host"}, {"max_failed_files": 0.5})
    )

    with pytest.raises(
        OutputError, match=r'labelled with other settings: config\.input\.site was "domain", is "host"\.'
    ):
        increment_job.prepared(to, request, by_host)
    assert increment_job.prepared(to, request, reading)


def test_a_collection_without_some_members_is_not_extended(collected: Path, tmp_path: Path) -> None:
    """As a copy that broke off is: new captures would be labelled as if these pages had never been."""
    to = Collection(str(shutil.copytree(collected, tmp_path / "c")))
    request = RunRequest(files=["more.warc"], output="", with_html=False, limit=None, started=0.0)
    to.commit(replace(to.current(), number=4, settings=increment_job._settings(request.plan(PARAMETERS))))
    shutil.rmtree(Path(to.increment(1), "members"))

    with pytest.raises(OutputError, match=r"00000001/members has 0 rows, and \d+ were written: a part is missing"):
        increment_job.prepared(to, request, PARAMETERS)


def test_a_collection_without_the_revisits_that_wait_is_not_extended(collected: Path, tmp_path: Path) -> None:
    """They would be no captures when their originals come, and in no account either."""
    to = Collection(str(shutil.copytree(collected, tmp_path / "c")))
    request = RunRequest(files=["more.warc"], output="", with_html=False, limit=None, started=0.0)
    settings = increment_job._settings(request.plan(PARAMETERS))
    to.commit(replace(to.version(2), number=4, settings=settings))
    waiting = json.loads(Path(to.increment(2), "run.json").read_text())["rejects"]["revisit_unresolved"]

    with pytest.raises(OutputError, match=rf"00000002/pending is missing, with the {waiting} revisits .*restore"):
        increment_job.prepared(to, request, PARAMETERS)
    write(to.increment(2), "pending", revisit_rows.REVISITS)
    assert increment_job.prepared(to, request, PARAMETERS)


def test_a_run_that_was_ended_goes_on_first(grown: Collection) -> None:
    """Its work is neither lost nor put together."""
    begun = Path(staging.path(grown.increment(4), staging.PLAN))
    begun.parent.mkdir(parents=True)
    begun.write_text("{}")

    with pytest.raises(OutputError, match="give the command of that run again first"):
        compaction_job.run(grown, 1000)
    assert begun.exists()


def test_a_run_at_work_is_left_alone(grown: Collection) -> None:
    """Its lock is seen before anything is written."""
    with run_lock.hold(grown.increment(4)), pytest.raises(OutputError, match="is at work there"):
        compaction_job.run(grown, 1000)


def test_a_broken_file_is_named_and_nothing_is_left(grown: Collection) -> None:
    """The version before stays, and the folder is as it was."""
    broken = Path(grown.increment(2), "captures/part-00000.parquet")
    whole = broken.read_bytes()
    broken.write_bytes(whole[:4] + b"x" * 40 + whole[44:])

    with pytest.raises(OutputError, match=r"increments/00000002/captures/part-00000\.parquet is broken: "):
        compaction_job.run(grown, 1000)
    assert [1, 2, 3] == grown.numbers()
    assert ["00000001", "00000002", "00000003"] == sorted(
        one.name for one in Path(grown.folder, "increments").iterdir()
    )


def test_a_full_disk_is_no_fault_of_the_files_that_are_read(grown: Collection) -> None:
    """The error names the file that could not be written, and not those of the increments, which are whole."""
    with full_disk(300), pytest.raises(OutputError, match=r"_compacting.*File too large: .*; nothing is lost"):
        compaction_job.run(grown, 1000)


def test_a_collection_that_was_copied_without_its_rejects_is_put_together(grown: Collection) -> None:
    """No file of them comes of none: nothing names their columns."""
    for number in (1, 2, 3):
        shutil.rmtree(Path(grown.increment(number), "rejects"))
    made = compaction_job.run(grown, 1000)

    assert made
    assert not Path(grown.increment(made.number), "rejects").exists()


@pytest.mark.parametrize(
    ("name", "table"),
    [("extractions/site_part=1", "extractions"), ("superseded", "superseded"), ("members", "members")],
)
def test_rows_that_are_missing_are_not_left_out_for_good(grown: Collection, name: str, table: str) -> None:
    """A compaction of a collection that was copied in part would lack them, and a vacuum remove what names them; nor do
    rows count that the missing ones replace."""
    for file in Path(grown.increment(3), name).iterdir():
        file.unlink()

    with pytest.raises(OutputError, match=rf"{table} has \d+ rows, and \d+ were written: a part is missing"):
        compaction_job.run(grown, 1000)
    assert [1, 2, 3] == grown.numbers()


def test_revisits_that_wait_are_not_left_out_for_good(grown: Collection) -> None:
    """A later crawl may bring their originals, and an extension of what is put together would refuse to be one."""
    shutil.rmtree(Path(grown.increment(3), "pending"))

    with pytest.raises(OutputError, match="00000003/pending is missing, with the 1 revisit "):
        compaction_job.run(grown, 1000)
    assert [1, 2, 3] == grown.numbers()


def test_what_it_does_not_know_is_refused(grown: Collection) -> None:
    """A table of another program would be lost."""
    Path(grown.increment(2), "pictures").mkdir()

    with pytest.raises(OutputError, match="holds pictures"):
        compaction_job.run(grown, 1000)
