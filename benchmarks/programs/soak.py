"""Let two sites be acquired, streamed and extracted night after night, while processes are killed and a disk fills up:
`python -m benchmarks.programs.soak FOLDER [SECONDS]`, six hours if no number is given.

Each night both sites publish stories. `dbce acquire` fetches them, `dbce stream` labels them as they arrive, and
`dbce extract --collection` takes the night's files as an increment. In most nights one of the three is killed with all
its processes at a moment left to chance, and started again; in the third night the disk is full for all of them. At the
end each story has to be in one WARC file, the tables of the stream have to be those of plain Python, and the
collection that of one run. Prints a line a night; ends with 1 if an account is not exact, or if what processes hold in
memory, descriptors and files on their way grew. A command that ends with an error, as Spark may on a machine that is
very busy, is begun again as systemd would, and counted.

Called again it goes on with the night after the last that was played, until all nights together took SECONDS.
"""

import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import environ
from pathlib import Path

import psutil
import pyarrow.dataset as ds

from benchmarks.programs.month import TABLES, differing, row_counts, rows_of
from benchmarks.programs.program_parser import program_parser
from benchmarks.scale.watch import folder_bytes
from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.output.collection import Collection
from dbce_spark.spark.jobs import compaction_job
from dbce_spark.streaming.stream import local_stream, stream_parts, stream_tables
from tests.support.builders import read
from tests.support.cluster import kill_all
from tests.support.free_ports import free_port
from tests.support.newsroom import Newsroom, item, newsroom
from tests.support.stream_files import as_table, in_order, tree

ROOT = Path(__file__).parents[2]
HOURS = 6
SITES = ("127.0.0.1", "127.0.0.2")
STORIES = 6
"""Stories of a site and night."""
SHOWN = 3
"""Nights whose stories a feed shows."""
FULL, FULL_DISK = 3, "full disk"
"""The night on which the disk is full, and what has ended the programs then."""
COMPACTED = 20
"""Nights after which the collection is compacted."""
PATIENCE = 1800
"""Seconds for what takes 10 to 60 on two free cores."""
WARM, GROWTH = 0.5, 1.25
"""Share of the nights behind which nothing may grow, and by which factor it still may, since Java takes and gives back
memory as it likes. The peak of the nights behind is set beside that of the nights before."""
LEAST = 8
"""Nights that tell anything of growth."""
SMALL = ("--master", "local[1]", "--spark", "spark.driver.memory=600m", "--spark", "spark.ui.enabled=false")
OF_TREE = ("window.max_documents=60", "window.min_documents=20", "label.heuristic=strict-at-domain")
OF_STREAM = ("stream.partitions=2",)
OF_ACQUIRE = (
    *("acquire.delay_seconds=0", "acquire.poll_seconds=2", "acquire.first_wait_seconds=1", "acquire.file_seconds=5"),
    *("acquire.private_addresses=true", "acquire.robots_seconds=60"),
)
_WORDS = ("harbour", "council", "winter", "bridge", "garden", "letter", "market", "ferry", "orchard", "signal", "tower")


@dataclass(frozen=True)
class Night:
    """A night that was played. `disk` is of files on their way: open archives, staging, the checkpoint of the stream;
    `begun_again` counts commands that ended by themselves."""

    night: int
    seconds: float
    ended: str
    begun_again: int
    pages: int
    increment: int
    acquire_bytes: int
    stream_bytes: int
    descriptors: int
    disk: int

    def line(self) -> str:
        memory = f"{self.acquire_bytes >> 20:>8}{self.stream_bytes >> 20:>8}{self.descriptors:>12}{self.disk >> 10:>9}"
        counts = f"{self.begun_again:>5}{self.pages:>6}{self.increment:>10}"
        return f"{self.night:>5}{self.seconds:>8.0f}  {self.ended:<10}{counts}{memory}"


HEAD = "night seconds  ended     again pages increment acquire  stream descriptors disk KB   (memory in MB)"
FLAT = ("acquire_bytes", "stream_bytes", "descriptors", "disk")


class Program:
    """A command of `dbce` that runs until it is ended, and is begun again."""

    def __init__(self, log: Path, *words: str):
        self.name, self._log, self._words = words[0], log, words
        self.again = 0
        """The number of times that it ended by itself, and was begun again."""
        self.begin()

    def begin(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dbce_spark.commands.cli", *self._words],
                env={**environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        kill_all(self.process)

    def begin_after_error(self) -> None:
        """Wait until it has ended with an error, as it must on a full disk, and begin it again."""
        expect(self.process.wait(PATIENCE) > 0, f"{self.name} found no error on a full disk")
        self.begin()

    def stop(self) -> int:
        """Ask it to end; return its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def tree(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            whole = psutil.Process(self.process.pid)
            return [whole, *whole.children(recursive=True)]
        return []

    def fill_disk(self) -> None:
        """Let none of its processes, and none that they start, make a file longer."""
        for one in self.tree():
            with suppress(ProcessLookupError):
                resource.prlimit(one.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def held(self) -> tuple[int, int]:
        """Return the resident bytes and the descriptors of its processes."""
        memory = descriptors = 0
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                memory += one.memory_info().rss
                descriptors += one.num_fds()
        return memory, descriptors


@dataclass
class Soak:
    """A folder in which nights are played."""

    folder: Path
    captured: Counter[str] = field(default_factory=Counter)
    """Count the captures of each URL, in all files so far."""
    _files: set[Path] = field(default_factory=set)

    @property
    def acquired(self) -> Path:
        return self.folder / "acquired"

    @property
    def streamed(self) -> Path:
        return self.folder / "streamed"

    @property
    def collection(self) -> Collection:
        return Collection(str(self.folder / "collection"))

    @cached_property
    def ports(self) -> list[int]:
        """The ports of the sites, the same whenever the program is called: a link is to one."""
        kept = self.folder / "ports.json"
        if not kept.exists():
            kept.write_text(json.dumps([free_port() for _ in SITES]))
        ports: list[int] = json.loads(kept.read_text())
        return ports

    def played(self) -> list[Night]:
        with suppress(FileNotFoundError):
            return [Night(**json.loads(line)) for line in (self.folder / "nights.jsonl").read_text().splitlines()]
        return []

    @contextmanager
    def at_work(self) -> Iterator["Work"]:
        """Open the sites, and begin to acquire and to stream within the block."""
        with ExitStack() as opened:
            rooms = [opened.enter_context(newsroom(site, port)) for site, port in zip(SITES, self.ports, strict=True)]
            feeds = [f"{room.url}/feed" for room in rooms]
            state = str(self.folder / "state")
            acquire = Program(
                self.folder / "acquire.log",
                *("acquire", *feeds, "--output", str(self.acquired), "--state", state, *settings(OF_ACQUIRE)),
            )
            opened.callback(acquire.kill)
            self.acquired.mkdir(exist_ok=True)
            stream = Program(
                self.folder / "stream.log",
                *("stream", str(self.acquired), "--output", str(self.streamed), "--every", "2", *SMALL),
                *settings([*OF_STREAM, *(f"urltree.{one}" for one in OF_TREE)]),
            )
            opened.callback(stream.kill)
            yield Work(self, rooms, acquire, stream)

    def read_new(self) -> None:
        """Count what the files that are new have."""
        for path in sorted({*self.acquired.glob("*.warc.gz")} - self._files):
            self.captured.update(one.capture.url for one in read(path) if isinstance(one, warc.Fetch))
            self._files.add(path)

    def extract(self, manifest: Path, *, kill_after: float | None = None, is_full: bool = False) -> int:
        """Extend the collection by the files of a manifest; return the status."""
        words = ("extract", f"@{manifest}", "--collection", str(self.folder / "collection"), *SMALL)
        increment = Program(self.folder / "extract.log", *words)
        if is_full:
            increment.fill_disk()
        if kill_after is not None:
            with suppress(subprocess.TimeoutExpired):
                return increment.process.wait(kill_after)
            increment.kill()
        return increment.process.wait(PATIENCE)

    def manifest(self, night: int) -> Path:
        """List the files that no night before this one had, once."""
        kept = self.folder / f"nights/{night:04}.txt"
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            before = {line for one in kept.parent.glob("*.txt") for line in one.read_text().splitlines()}
            partial = kept.with_suffix(".part")
            partial.write_text("".join(f"{path}\n" for path in sorted(map(str, self._files)) if path not in before))
            partial.replace(kept)
        return kept

    def disk(self) -> int:
        """Return the bytes of files on their way."""
        staged = [*(self.folder / "collection").rglob("_staging"), self.streamed / "_checkpoint"]
        folders = [self.folder / "state/open", self.streamed / "_staging", *staged]
        return sum(map(folder_bytes, folders))


@dataclass(frozen=True)
class Work:
    """The sites, and what is at work on them."""

    soak: Soak
    rooms: Sequence[Newsroom]
    acquire: Program
    stream: Program

    def play(self, night: int) -> Night:
        """Publish a night's stories, and see that all have them in the end, whatever is killed."""
        began, chance = time.monotonic(), random.Random(night)
        again = self.acquire.again + self.stream.again
        ended = FULL_DISK if night == FULL else chance.choice(("acquire", "stream", "extract", "nothing"))
        self._acquire(night, ended, chance)
        self._stream(ended, chance)
        self._extract(night, ended, chance)
        self._until(self._is_streamed, self.stream)
        for room in self.rooms:
            room.asked.clear()
        (acquire_bytes, descriptors), (stream_bytes, more) = self.acquire.held(), self.stream.held()
        version = self.soak.collection.latest()
        return Night(
            night=night,
            seconds=round(time.monotonic() - began, 1),
            ended=ended,
            begun_again=self.acquire.again + self.stream.again - again,
            pages=sum(self.soak.captured.values()),
            increment=version.number if version else 0,
            acquire_bytes=acquire_bytes,
            stream_bytes=stream_bytes,
            descriptors=descriptors + more,
            disk=self.soak.disk(),
        )

    def _acquire(self, night: int, ended: str, chance: random.Random) -> None:
        """Publish the stories, and wait until all of them are in files."""
        if ended == FULL_DISK:
            self.acquire.fill_disk()
            self.stream.fill_disk()
        for room in self.rooms:
            publish(room, night)
        if ended == "acquire":
            time.sleep(chance.uniform(0, 6))
            self.acquire.kill()
            self.acquire.begin()
        if ended == FULL_DISK:
            self.acquire.begin_after_error()
        self._until(self._is_acquired(night), self.acquire)

    def _stream(self, ended: str, chance: random.Random) -> None:
        """End the stream in the midst of its work, and begin it again."""
        if ended == FULL_DISK:
            self.stream.begin_after_error()
        if ended == "stream":
            time.sleep(chance.uniform(0, 10))
            self.stream.kill()
            self.stream.begin()

    def _extract(self, night: int, ended: str, chance: random.Random) -> None:
        """Extend the collection by the night's files, and compact it in some nights."""
        manifest = self.soak.manifest(night)
        if ended == FULL_DISK:
            status = self.soak.extract(manifest, is_full=True)
            expect(status > 0, f"an increment on a full disk ended with {status}")
        if ended == "extract":
            self.soak.extract(manifest, kill_after=chance.uniform(0.5, 5))
        expect(self.soak.extract(manifest) == 0, f"the increment of night {night} failed")
        if night % COMPACTED == 0:
            compaction_job.run(self.soak.collection, config.default().output.rows_per_file)

    def _until(self, is_so: Callable[[], bool], program: Program) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            expect(time.monotonic() < end, f"{program.name} has not done its work in {PATIENCE} s; see its log")
            if program.process.poll() is not None:
                program.begin()
                program.again += 1
            time.sleep(0.5)

    def _is_acquired(self, night: int) -> Callable[[], bool]:
        wanted = {f"{room.url}{path}" for room in self.rooms for path in paths(night)}

        def is_so() -> bool:
            self.soak.read_new()
            return wanted <= {*self.soak.captured}

        return is_so

    def _is_streamed(self) -> bool:
        last = stream_tables.last_commit(str(self.soak.streamed))
        return last is not None and last.totals["files"] >= len([*self.soak.acquired.glob("*.warc.gz")])


def settings(values: Sequence[str]) -> list[str]:
    return [f"--set={one}" for one in values]


def expect(is_so: bool, words: str) -> None:
    if not is_so:
        raise SystemExit(f"soak: {words}")


def paths(night: int) -> list[str]:
    return [f"/night-{night}/story-{number}.html" for number in range(STORIES)]


def publish(room: Newsroom, night: int) -> None:
    """Let a site have the stories of all nights that its feed shows, and no others."""
    room.pages.clear()
    shown = range(max(1, night - SHOWN + 1), night + 1)
    links = []
    for one in shown:
        for number, path in enumerate(paths(one)):
            title = f"Story {number} of night {one}"
            links.append(item(f"{room.url}{path}", title, description=f"About {title}"))
            room.pages[path] = (story(room.url, title).encode(), "text/html; charset=utf-8")
    room.publish("/feed", *links)


def story(site: str, title: str) -> str:
    """Write a page with a menu and a footer of its site, and text of its own."""
    words = random.Random(f"{site} {title}")
    own = "".join(f"<p>{title}: {' '.join(words.choices(_WORDS, k=40))}.</p>" for _ in range(8))
    menu = "".join(f"<li><a href='/{word}'>{word}</a>" for word in _WORDS)
    return (
        f"<html><title>{title}</title><body><ul>{menu}</ul><h1>{title}</h1>{own}<p>Footer of {site}</p></body></html>"
    )


def differences(soak: Soak, nights: int) -> int:
    """Set the account of all nights beside what it has to be; print it, and return in how much it differs."""
    soak.read_new()
    wanted = {f"http://{site}:{port}{path}" for site, port in zip(SITES, soak.ports, strict=True)
              for night in range(1, nights + 1) for path in paths(night)}  # fmt: skip
    stories = Counter({url: count for url, count in soak.captured.items() if "/story-" in url})
    amiss = differing(stories, Counter(wanted))
    print(f"acquired: {len(wanted):,} stories in {len(soak._files):,} files, {amiss:,} missing or there twice")
    return amiss + _stream_differences(soak) + _collection_differences(soak)


def _stream_differences(soak: Soak) -> int:
    differ, found = 0, {}
    for name, schema in stream_parts.SCHEMAS.items():
        files = stream_tables.files(str(soak.streamed), name)
        found[name] = in_order(ds.dataset(files, schema=schema).to_table().to_pylist()) if files else []
    order = {row["file_no"]: row["warc_file"] for rows in found.values() for row in rows if row.get("warc_file")}
    made = local_stream.run([path for _, path in sorted(order.items())], config.load(), tree(*OF_TREE))
    for name, rows in made.items():
        once, streamed = (Counter(map(str, one)) for one in (as_table(name, rows), found[name]))
        other = differing(once, streamed)
        print(f"stream: {streamed.total():,} {name}, {once.total():,} of plain Python, {other:,} differ")
        differ += other
    return differ


def _collection_differences(soak: Soak) -> int:
    whole, differ = soak.folder / "whole", 0
    words = ("extract", str(soak.acquired), "--output", str(whole), "--overwrite", *SMALL)
    expect(Program(soak.folder / "extract.log", *words).process.wait(4 * PATIENCE) == 0, "the whole run failed")
    version = soak.collection.current()
    for table in TABLES:
        grown = row_counts(table, rows_of(soak.collection, version, table), "")
        once = row_counts(table, ds.dataset(whole / table).to_table().to_pylist(), "")
        other = differing(grown, once)
        print(f"collection: {grown.total():,} {table}, {once.total():,} of one run, {other:,} differ")
        differ += other
    return differ


def grown(nights: Sequence[Night]) -> list[str]:
    """Name what has grown behind the warm-up."""
    if len(nights) < LEAST:
        print(f"{len(nights)} nights tell nothing of growth; {LEAST} would")
        return []
    warm = round(WARM * len(nights))
    found = []
    for name in FLAT:
        before, behind = (max(getattr(one, name) for one in part) for part in (nights[:warm], nights[warm:]))
        print(f"{name}: at most {before:,} in the first {warm} nights, {behind:,} later")
        if behind > GROWTH * before:
            found.append(name)
    return found


def main(folder: Path, seconds: float) -> int:
    """Play nights until their seconds are over; return 1 if an account differs or something has grown."""
    folder.mkdir(parents=True, exist_ok=True)
    soak = Soak(folder)
    nights = soak.played()
    print(HEAD)
    for night in nights:
        print(night.line())
    if sum(night.seconds for night in nights) < seconds:
        with soak.at_work() as work:
            while sum(night.seconds for night in nights) < seconds:
                nights.append(work.play(len(nights) + 1))
                print(nights[-1].line(), flush=True)
                with (folder / "nights.jsonl").open("a") as file:
                    file.write(json.dumps(asdict(nights[-1])) + "\n")
            for program in (work.acquire, work.stream):
                status = program.stop()
                expect(status in (0, 128 + signal.SIGTERM, 130), f"{program.name}, asked to end, did so with {status}")
    found = grown(nights)
    print(f"grown: {', '.join(found) or 'nothing'}")
    return int(differences(soak, len(nights)) + len(found) > 0)


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("seconds", type=float, nargs="?", default=HOURS * 3600, metavar="SECONDS")
    given = parser.parse_args()
    sys.exit(main(given.folder.resolve(), given.seconds))
