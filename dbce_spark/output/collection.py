"""Keep collections: outputs that grow by crawls, one increment after the other, in versions.

Each run that extends a collection writes an increment, a folder that nothing changes afterwards, and ends by writing
the manifest of a new version, which names all increments that it consists of. So a reader sees one version or the next,
never half of one; and to go back is to write a manifest that names fewer.

A row of an increment replaces the rows of the same capture in earlier ones; its table `superseded` lists these
captures.
"""

import json
import os
import re
import shutil
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from dbce_spark.errors import InputError, OutputError, denied
from dbce_spark.files import sources, storage, timestamps

FORMAT = 4
"""Of the folder, the manifests, and all that increments hold, among it places in the text of pages. Any other is
refused."""
EXTRACTIONS, CAPTURES, REJECTS, SUPERSEDED, MEMBERS = "extractions", "captures", "rejects", "superseded", "members"
DUPLICATES, REMARKED = "duplicates", "remarked"
PAGES, DIGESTS, PENDING = "pages", "evidence_digests", "pending"
_VERSIONS, _INCREMENTS, INPUTS = "versions", "increments", "inputs.json"
RUN_FILE, RUNS = "run.json", "runs"
"""The report of a run; and, where increments were put together, the folder of theirs, by their numbers."""
_TABLES = {EXTRACTIONS, CAPTURES, REJECTS, DUPLICATES, SUPERSEDED, REMARKED, MEMBERS, PAGES, DIGESTS, PENDING}
_TABLES |= {"labels", "late_labels", "repeats"}  # of streams
_OF_TABLE = re.compile(r"(?:part-\d{5}.*|\d{8})\.parquet|(?:site_part|batch)=\d+|_delta_log")
"""The names of what lies in a table, and in no folder of a user's that happens to be called like one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment:
    """The rows that one run added. `page_files` counts the files of pages that it keeps, `relabelled` the captures of
    earlier increments that it labels again."""

    number: int
    page_files: int
    captures: int
    extractions: int
    relabelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The increments of a collection at one time. `settings` made all its labels; `made` is a time in UTC."""

    number: int
    made: str
    why: str
    increments: tuple[Increment, ...]
    settings: dict[str, Any]
    format: int = FORMAT

    @property
    def captures(self) -> int:
        """Count the captures of all increments."""
        return sum(increment.captures for increment in self.increments)


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder of versions and increments."""

    folder: str

    def numbers(self) -> list[int]:
        """List the numbers of the versions, the oldest first; none if there is no such collection.

        Raises:
            OutputError: they may not be listed.
        """
        try:
            paths = [*Path(self.folder, _VERSIONS).iterdir()]  # glob takes what it may not list for empty
        except (FileNotFoundError, NotADirectoryError):
            return []
        except PermissionError as error:
            raise denied(self.folder, error) from error
        return sorted(int(one.stem) for one in paths if one.suffix == ".json" and one.stem.isdecimal())

    def latest(self) -> Version | None:
        """Read the newest version; None in a collection that is still to be begun.

        Raises:
            OutputError: as `version`; or the folder holds something else.
        """
        numbers = self.numbers()
        if numbers:
            return self.version(numbers[-1])
        if Path(self.folder).is_file():
            raise OutputError(f"{self.folder} is a file, and no collection; give a folder")
        if foreign := self._foreign():
            raise OutputError(f"{self.folder} holds {min(foreign)}, and is no collection; give an empty folder")
        return None

    def current(self) -> Version:
        """Read the newest version of a collection that has one.

        Raises:
            InputError: there is no collection.
            OutputError: as `version`.
        """
        if numbers := self.numbers():
            return self.version(numbers[-1])
        if Path(self.folder, RUN_FILE).is_file():
            raise InputError(
                f"{self.folder} is an output, and no collection; `dbce extract` of the same archives with --collection"
                " FOLDER in place of --output begins one"
            )
        begun = "FOLDER" if self._foreign() or Path(self.folder).is_file() else self.folder
        raise InputError(f"{self.folder} is no collection; `dbce extract ... --collection {begun}` begins one")

    def version(self, number: int) -> Version:
        """Read a version by its number.

        Raises:
            InputError: there is none of this number.
            OutputError: its manifest cannot be read, or is of another format.
        """
        path = self._manifest(number)
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            found = plain["format"]
            if found == FORMAT:
                return _built(plain, number)
        except FileNotFoundError:
            there = ", ".join(map(str, self.numbers())) or "none"
            raise InputError(f"{self.folder} has no version {number}; it has {there}") from None
        except PermissionError as error:
            raise denied(str(path), error) from error
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise OutputError(
                f"{path} is no manifest: {error}; restore it, or remove it to go back by one version"
            ) from error
        raise OutputError(
            f"{path} is of format {found}, and this program reads format {FORMAT}: extend it with the program that made"
            " it, or begin a new collection from the same archives"
        )

    def commit(self, version: Version) -> None:
        """Make this the newest version. Of two runs that try this at once, one succeeds.

        Raises:
            OutputError: there is a version of this number already, or it cannot be written.
        """
        path = self._manifest(version.number)
        partial = path.with_name(f"_{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(asdict(version), indent=2, sort_keys=True) + "\n", encoding="utf-8")
            storage.sync(partial)
            os.link(partial, path)  # unlike a rename it replaces nothing
            storage.sync(path.parent)
        except FileExistsError:
            raise OutputError(
                f"{self.folder} was extended by another run meanwhile: version {version.number} is there; give"
                " the same command again to extend it"
            ) from None
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error}; {storage.remedy(error)}") from error
        finally:
            with suppress(OSError):
                partial.unlink()

    def rollback(self, number: int) -> Version:
        """Commit an earlier version's increments once more, as a version of its own: nothing is lost by it.

        Raises:
            InputError: there is no such version.
            OutputError: as `commit`; or a vacuum has removed the version meanwhile.
        """
        before, latest = self.version(number), self.current()
        back = replace(before, number=latest.number + 1, made=timestamps.now(), why=f"rollback to {number}")
        self.commit(back)
        if number not in self.numbers():  # a vacuum that has not seen the new version removes increments of this one
            self._manifest(back.number).unlink()
            raise OutputError(
                f"{self.folder}: version {number} was removed meanwhile by a vacuum; the collection stays as it was,"
                " and `dbce collection log` lists the versions that are left"
            )
        return back

    def vacuum(self, keep: int, *, dry_run: bool = False) -> list[str]:
        """Remove all but the last `keep` versions, and the increments that none of these needs; return the names of
        both. With `dry_run` nothing is removed.

        The increment that the next run writes, or an ended one has begun, stays.
        """
        # First: what a run begins from now on is none of them.
        folders = sorted(Path(self.folder, _INCREMENTS).glob("*"))
        numbers = self.numbers()
        for number in numbers[-keep:]:
            self.version(number)  # raises before anything is removed
        old = [self._manifest(number) for number in numbers[:-keep]]
        for path in () if dry_run else old:
            path.unlink(missing_ok=True)  # another vacuum may be at work
        needed = self._needed({*numbers[:-keep]}) | {numbers[-1] + 1}
        unneeded = [one for one in folders if one.name.isdecimal() and int(one.name) not in needed]
        for folder in () if dry_run else unneeded:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        return [*(f"{_VERSIONS}/{one.name}" for one in old), *(f"{_INCREMENTS}/{one.name}" for one in unneeded)]

    def _needed(self, old: Set[int]) -> set[int]:
        """List the increments of all versions but old ones, and the one that the next run writes: a rollback or a run
        may have made a version since a vacuum began."""
        numbers = [number for number in self.numbers() if number not in old]
        return {one.number for number in numbers for one in self.version(number).increments} | {numbers[-1] + 1}

    def increment(self, number: int) -> str:
        """Build the path of an increment's folder."""
        return f"{self.folder.rstrip('/')}/{_INCREMENTS}/{number:08}"

    def next_increment(self) -> str:
        """Build the path of the folder of a run that extends the collection now.

        Raises:
            OutputError: as `numbers`.
        """
        return self.increment(max(self.numbers(), default=0) + 1)

    def files(self, version: Version, table: str) -> list[tuple[int, str]]:
        """List the Parquet files of a table, each behind the number of its increment."""
        return [
            (one.number, str(path)) for one in version.increments for path in files(self.increment(one.number), table)
        ]

    def run_files(self, version: Version) -> dict[int, Path]:
        """List the run.json of each crawl of a version, by the number of its increment, the oldest first. An increment
        that was put together of others keeps theirs."""
        found: dict[int, Path] = {}
        for one in version.increments:
            folder = Path(self.increment(one.number))
            kept = sorted(path for path in Path(folder, RUNS).glob("[0-9]*.json") if path.stem.isdecimal())
            found |= {int(path.stem): path for path in kept} or {one.number: folder / RUN_FILE}
        return found

    def inputs(self, version: Version) -> dict[str, int]:
        """Read the files that all increments were made from, with their bytes at that time.

        Raises:
            OutputError: a list of them is missing, without which all its files would be read again, or cannot be read.
        """
        sizes: dict[str, int] = {}
        for one in version.increments:
            path = Path(self.increment(one.number), INPUTS)
            try:
                sizes.update(_sizes(path))
            except PermissionError as error:
                raise denied(str(path), error) from error
            except (OSError, ValueError, TypeError, RecursionError) as error:
                raise OutputError(
                    f"{path} cannot be read: {error}; restore it, or roll back to a version before it"
                ) from error
        return sizes

    def unread(self, version: Version | None, paths: Sequence[str]) -> list[str]:
        """List the files that no increment was made from, or that have more or fewer bytes now.

        Raises:
            OutputError: as `inputs`.
        """
        before = self.inputs(version) if version else {}
        return [path for path in paths if path not in before or before[path] != sources.size_or(path, -1)]

    def _foreign(self) -> set[str]:
        """List what the folder holds that no collection has."""
        return {one.name for one in Path(self.folder).glob("*")} - {_INCREMENTS, _VERSIONS}

    def _manifest(self, number: int) -> Path:
        return Path(self.folder, _VERSIONS, f"{number:08}.json")


def check_outside(target: str) -> None:
    """Check that a folder to be written lies neither in a collection nor in a table of an output: readers of those take
    all files in them for rows of theirs.

    Raises:
        OutputError: it does, or its storage cannot be reached.
    """
    is_remote = sources.is_remote(target)
    place = target.rstrip("/") if is_remote else os.path.realpath(target)
    while (name := place.rpartition("/")[2]) and not place.endswith(f"://{name}"):
        if not is_remote and any(Path(place, _INCREMENTS).glob("[0-9]" * 8)):
            raise OutputError(f"{target}: lies in the collection {place}; give another --output")
        if name in _TABLES and _is_table(place):
            raise OutputError(f"{target}: lies in the table {place}; give another --output")
        place = place.rpartition("/")[0]


def _is_table(place: str) -> bool:
    """Return whether a folder holds files of a table. One that may not be listed is none: who may write below it need
    not be allowed that."""
    try:
        return any(map(_OF_TABLE.fullmatch, storage.list_names(place)))
    except OutputError:
        return False


def _sizes(path: Path) -> dict[str, int]:
    """Read the files that an increment was made from, with their bytes.

    Raises:
        ValueError: this is no list of them.
    """
    sizes: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(sizes, dict) or not all(isinstance(size, int) for size in sizes.values()):
        raise ValueError("it holds something else than files and their bytes")
    return sizes


def _built(plain: dict[str, Any], number: int) -> Version:
    """Build a version from its manifest.

    Raises:
        ValueError, TypeError, KeyError: it is none of this number.
    """
    version = Version(**(plain | {"increments": tuple(Increment(**one) for one in plain["increments"])}))
    counts = [count for one in version.increments for count in asdict(one).values()]
    if version.number != number:
        raise ValueError(f"it is of version {version.number!r}")
    if not version.increments or not all(isinstance(count, int) for count in counts):
        raise ValueError("its increments cannot be read")
    if not isinstance(version.settings["config"], dict):
        raise TypeError("its settings cannot be read")
    return version


def files(folder: str, *tables: str) -> list[str]:
    """List the Parquet files of tables in an increment's folder."""
    return [str(path) for table in tables for path in sorted(Path(folder, table).rglob("[!_.]*.parquet"))]
