"""Play a month of an archive through the scheduled job, and one run over all of it:
`python -m benchmarks.programs.month FOLDER [DAY]`.

Every day what the sample archive's month has for it is laid into the inbox, and examples/dbce-batch is called as cron
calls it, with a collection. On some days all its processes are killed in the midst of their work. At the end the
collection has to hold what one `dbce extract` makes of all good input, and again when it is compacted: of every file
that came whole, once. Prints a line a day; ends with 1 if rows differ.

Called again it goes on with the day after the last that it has played; DAY is the last to be played this time.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from benchmarks.programs.program_parser import program_parser
from benchmarks.samples import sample_month, write_month
from dbce_spark.config import default
from dbce_spark.output.collection import CAPTURES, EXTRACTIONS, REJECTS, Collection, Version
from dbce_spark.output.current_rows import table_files
from dbce_spark.spark.jobs import compaction_job
from dbce_spark.spark.run import staging
from tests.support.cluster import kill_all, wait_for

ROOT = Path(__file__).parents[2]
SCRIPT, SETTINGS = ROOT / "examples/dbce-batch", ROOT / "examples/batch.env"
PAGES, SEED = 100, 1
KILLED = {7: "pages/00000000", 19: "extractions/00000000"}
"""On which days, and what is done then: one file is read, one part is written."""
TABLES = (EXTRACTIONS, CAPTURES, REJECTS)
PLACE = ("warc_file", "warc_offset", "warc_length", "record_id")
"""The file that a capture was read from: of one that two files hold, in the one that came first."""
OUTPUT, COLLECTION = 'DBCE_ARGUMENTS="--output', '# DBCE_ARGUMENTS="--collection'
"""The lines of batch.env with its target, and with the other one."""


@dataclass(frozen=True)
class Day:
    """The work of the job on one day's deliveries."""

    day: int
    files: int
    status: int
    seconds: float
    version: int
    captures: int
    extractions: int
    relabelled: int

    def line(self) -> str:
        how = "killed" if self.status < 0 else self.status
        counts = f"{self.captures:>9,}{self.extractions:>12,}{self.relabelled:>11,}"
        return f"{self.day:>3}{self.files:>6}{how:>8}{self.seconds:>8.1f}{self.version:>8}{counts}"


HEAD = "day files  status seconds version captures extractions relabelled"


@dataclass(frozen=True)
class Play:
    """A folder in which a month is played."""

    folder: Path

    @property
    def collection(self) -> Collection:
        return Collection(str(self.folder / "srv/collection"))

    @property
    def inbox(self) -> Path:
        return self.folder / "srv/inbox"

    def played(self) -> list[Day]:
        with suppress(FileNotFoundError):
            return [Day(**json.loads(line)) for line in (self.folder / "days.jsonl").read_text().splitlines()]
        return []

    def prepare(self) -> None:
        """Make the month, and the settings: those of examples/batch.env, with a collection and folders of this one."""
        if (self.folder / "batch.env").exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        write_month(self.folder / "month", pages=PAGES, days=sample_month.DAYS, seed=SEED)
        self.inbox.mkdir(parents=True)
        lines = SETTINGS.read_text()
        for given, here in {
            OUTPUT: f"#{OUTPUT}",
            COLLECTION: COLLECTION.removeprefix("# "),
            "/opt/dbce/venv/bin/dbce extract": f"{sys.executable} -m dbce_spark.commands.cli extract",
            "/srv/dbce": str(self.folder / "srv"),
            "DBCE_SETTLED_MINUTES=10": "DBCE_SETTLED_MINUTES=-1",
        }.items():
            assert given in lines, f"{SETTINGS} has no {given}"
            lines = lines.replace(given, here)
        (self.folder / "batch.env").write_text(lines)

    def play(self, day: int) -> Day:
        """Lay a day's deliveries into the inbox, and call the job."""
        came = sorted((self.folder / "month").glob(f"day-{day:02}/*"))
        if came:
            shutil.copytree(came[0].parent, self.inbox / came[0].parent.name, dirs_exist_ok=True)
        before, started = self.collection.latest(), time.monotonic()
        job = subprocess.Popen(
            [SCRIPT, self.folder / "batch.env"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if day in KILLED:
            self._kill(job, KILLED[day])
        output, _ = job.communicate()
        if job.returncode > 0 or output:
            raise SystemExit(f"day {day}: the job ended with {job.returncode} and said: {output.decode()}")
        after = self.collection.latest()
        prior = len(before.increments) if before else 0
        added = after.increments[prior:] if after else ()
        counts = {name: sum(getattr(one, name) for one in added) for name in ("captures", "extractions", "relabelled")}
        seconds = round(time.monotonic() - started, 1)
        version = after.number if after else 0
        done = Day(day, len(came), job.returncode, seconds, version, **counts)
        with (self.folder / "days.jsonl").open("a") as file:
            file.write(json.dumps(asdict(done)) + "\n")
        return done

    def _kill(self, job: "subprocess.Popen[bytes]", mark: str) -> None:
        """Kill all processes of a job as soon as it has written `mark`, and wait until its lock is free."""
        numbers = self.collection.numbers()
        work = self.collection.increment(numbers[-1] + 1 if numbers else 1)
        path = Path(staging.done(work, mark))
        if not wait_for(lambda: path.exists() or job.poll() is not None) or job.poll() is not None:
            raise SystemExit(f"the job was to be killed, and had ended before it had done {mark}")
        kill_all(job)
        wait_for(lambda: _is_free(self.folder / "srv/state/lock"))

    def whole(self) -> Path:
        """Extract all files that came whole, each once, in one run."""
        output = self.folder / "whole"
        if not (output / "run.json").exists():
            files = map(str, good(self.inbox.glob("*/*")))
            command = [sys.executable, "-m", "dbce_spark.commands.cli", "extract", *files, "--output", str(output)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            with (self.folder / "whole.log").open("wb") as log:
                subprocess.run(command, stdout=log, stderr=log, check=True, env=environment)
        return output

    def compact(self) -> None:
        compaction_job.run(self.collection, default().output.rows_per_file)

    def differences(self) -> int:
        """Compare the tables; print their numbers of rows and return how many differ."""
        of, whole = self.collection, self.whole()
        version, differ = of.current(), 0
        files = [path for table in TABLES for _, path in of.files(version, table)]
        print(f"version {version.number}: {len(files):,} files, {sum(map(os.path.getsize, files)):,} bytes")
        bad = damaged(self.inbox.glob("*/*"))
        for table in TABLES:
            rows = rows_of(of, version, table)
            for row in rows if table == REJECTS else ():
                if Path(row["warc_file"]).name == bad:
                    print(f"reject of the damaged file: {row['reason']}, {row['detail']}")
            grown = row_counts(table, rows, bad)
            once = row_counts(table, ds.dataset(whole / table).to_table().to_pylist(), bad)
            other = differing(grown, once)
            print(f"{table}: {grown.total():,} rows in the collection, {once.total():,} of one run, {other:,} differ")
            differ += other
        return differ


def damaged(files: Iterable[Path]) -> str:
    """Return the name of the file that came once more because it was damaged."""
    (mended,) = (file.name for file in files if file.name.startswith(sample_month.MENDED))
    return mended.removeprefix(sample_month.MENDED)


def good(files: Iterable[Path]) -> list[Path]:
    """List the files of a month that came whole, each once."""
    came = sorted(files)
    bad = damaged(came)
    return [file for file in came if not file.name.startswith(sample_month.COPY) and file.name != bad]


def rows_of(collection: Collection, version: Version, table: str) -> list[dict[str, Any]]:
    """Read all rows of a table of a collection."""
    return [row for batch in table_files(collection, version, table).batches(rows=1024) for row in batch.to_pylist()]


def differing(some: Counter[str], others: Counter[str]) -> int:
    """Count what only one side has, or has more often."""
    return (some - others).total() + (others - some).total()


def row_counts(table: str, rows: Iterable[dict[str, Any]], bad: str) -> Counter[str]:
    """Count each row as text, with all columns but those that depend on a damaged file alone: its unreadable parts, and
    where its captures lie."""
    found: Counter[str] = Counter()
    for row in rows:
        name = Path(row["warc_file"]).name
        if table != REJECTS or name != bad:
            aside = {"site_part", *(PLACE if name.removeprefix(sample_month.MENDED) == bad else ())}
            found[str({column: value for column, value in row.items() if column not in aside})] += 1
    return found


def _is_free(lock: Path) -> bool:
    with lock.open("wb") as held, suppress(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def main(folder: Path, until: int) -> int:
    """Play the days up to one; after the last of the month return 1 if a row differs."""
    play = Play(folder)
    play.prepare()
    print(HEAD)
    for done in play.played():
        print(done.line())
    for day in range(len(play.played()) + 1, until + 1):
        print(play.play(day).line(), flush=True)
    if len(play.played()) < sample_month.DAYS:
        return 0
    differ = play.differences()
    play.compact()
    return int(differ + play.differences() > 0)


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("until", type=int, nargs="?", default=sample_month.DAYS, metavar="DAY")
    given = parser.parse_args()
    sys.exit(main(given.folder.resolve(), given.until))
