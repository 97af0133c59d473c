"""Output files, which appear under their name only when they are whole, and are on the disk by then."""

import errno
import gzip
import json
import lzma
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4

from fsspec.core import url_to_fs

from dbce_spark.errors import DbceError, OutputError, is_full
from dbce_spark.files.sources import cause, is_remote

REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of what this user, or nobody, may write."""
_HALF = f"_*.{'[0-9a-f]' * 32}"
"""The names of files and folders while they are written."""


def remedy(error: OSError) -> str:
    """Advise what to do where a file cannot be written."""
    return f"{'make room' if is_full(error) else 'make it writable'}, and give the same command again"


def list_names(folder: str) -> set[str]:
    """List the names in a folder; none, if there is no such folder. Halves of files, which ended processes have left,
    are left out.

    Raises:
        OutputError: it is a file, or its storage cannot be reached.
    """
    try:
        filesystem, path = url_to_fs(folder)
        filesystem.invalidate_cache()  # others write there, too
        is_there = filesystem.exists(path)
        if is_there and not filesystem.isdir(path):
            raise OutputError(f"{folder} is a file; give a folder for the output")
        paths = filesystem.ls(path, detail=False) if is_there else []
    except OutputError:
        raise
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(f"{folder}: cannot be listed: {cause(folder, error)}") from error
    inside = (each.rstrip("/") for each in paths)
    # Some stores have the folder itself among what is in it.
    names = {each.rsplit("/", 1)[-1] for each in inside if each != path.rstrip("/")}
    return {name for name in names if not fnmatchcase(name, _HALF)}


def check_bucket(folder: str) -> None:
    """Check that a folder of an object store can be written, by an object that is removed again.

    Raises:
        OutputError: it cannot: hours later, when all is read, would be late to say so.
    """
    probe = f"{folder.rstrip('/')}/_probe.{uuid4().hex}"  # as _HALF: no reader sees it where it may not be removed
    try:
        write(probe, b"{}")
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(f"{folder}: cannot be written: {cause(folder, error)}") from error
    with suppress(Exception):
        remove(probe)


def remove(path: str) -> None:
    """Remove a file, or a folder with all that is in it, if it is there."""
    filesystem, inner = url_to_fs(path)
    if filesystem.exists(inner):
        filesystem.rm(inner, recursive=True)


def sweep(folder: str) -> None:
    """Remove the halves of files and folders that ended processes have left in a folder; an object store has none."""
    if is_remote(folder):
        return
    for half in [*Path(folder).rglob(_HALF)]:  # those inside others are gone with these
        if half.is_dir():
            shutil.rmtree(half)
        else:
            half.unlink(missing_ok=True)


def link(named: str | Path, new_name: str | Path) -> None:
    """Link a file under another name, unless that name is taken; copy it where the file system has no links."""
    source, target = Path(named), Path(new_name)
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
        sync(target.parent)
    except OSError:
        with atomic_file(str(target)) as copy, source.open("rb") as original:
            shutil.copyfileobj(original, copy)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk: what is said to be done afterwards is."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_folder(folder: Path) -> None:
    """Wait until a folder that another program wrote, with all files below it, is on the disk."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        sync(path)


@contextmanager
def atomic_file(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears when the block ends well, and never in part.

    Locally by a rename; object stores show an object when it is complete. Links stay, and lead to it. What is no file
    is not replaced either: a pipe or a device takes all as it is written.
    """
    if is_remote(path):
        yield from _whole_object(path)
        return
    if Path(path).exists() and not Path(path).is_file():
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # As _HALF: hidden from readers of the folder, and a name of its own for each attempt at the same file.
    partial = target.with_name(f"_{target.name}.{uuid4().hex}")
    try:
        with partial.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
        sync(target.parent)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and is_full(error) and error.filename is None:
            raise OSError(error.errno, error.strerror, path) from error
        raise


def write(path: str, content: bytes) -> None:
    """Write a file that appears when it is whole."""
    with atomic_file(path) as stream:
        stream.write(content)


def write_text(path: str, text: str) -> None:
    """Write a text as UTF-8, with "?" for each half of a character, which pages may have."""
    write(path, text.encode("utf-8", "replace"))


def write_json(path: str, value: object) -> None:
    """Write a value as indented JSON, which a person can read, too."""
    write(path, json.dumps(value, indent=2).encode() + b"\n")


def _whole_object(path: str) -> Iterator[BinaryIO]:
    """Open an object for writing that appears when the block ends well."""
    filesystem, name = url_to_fs(path)
    stream = filesystem.open(name, "wb", autocommit=False)
    try:
        yield stream
        stream.close()
        stream.commit()
    except BaseException:
        for end in (stream.close, stream.discard):
            with suppress(Exception):  # the first error is the one that helps
                end()
        raise


def compressed(stream: BinaryIO, name: str) -> AbstractContextManager[BinaryIO]:
    """Open a stream that writes to another one, compressed if `name` ends in .xz or .gz; the same input gives the same
    bytes."""
    if name.endswith(".xz"):
        return cast(BinaryIO, lzma.open(stream, "wb"))
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))
    return nullcontext(stream)


def _take_place(partial: Path, target: Path) -> None:
    """Rename a folder, or all that is in it where it lies in the target itself."""
    if partial.parent == target:
        for one in sorted(partial.iterdir(), key=lambda one: one.suffix == ".json"):
            one.rename(target / one.name)
        partial.rmdir()
        sync(target)
    else:
        partial.replace(target)
        sync(target.parent)


def check_new(folder: str) -> None:
    """Check that a folder is empty or not there.

    Raises:
        OutputError: it is not, or cannot be listed.
    """
    if list_names(folder):
        raise OutputError(f"{folder}: is not empty; give a new folder, or remove this one")


@contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yield a folder to write files into, which has them when the block ends well; else it is as it was before.

    Locally by a rename; where the folder is there, and may be a mount, by one of each file and folder in it, those in
    JSON last. In an object store the files are there one after the other, and removed when the block fails: a file that
    says that all are there has to be the last.

    Raises:
        OutputError: it is not empty, or cannot be written.
    """
    check_new(path)
    is_object = is_remote(path)
    target = Path(path if is_object else os.path.realpath(path))  # a link stays, and leads to it
    place = target if target.is_dir() else target.parent
    partial = path if is_object else str(place / f"_{target.name}.{uuid4().hex}")
    try:
        if not is_object:
            Path(partial).mkdir(parents=True)
        yield partial
        if not is_object:
            sync_folder(Path(partial))
            _take_place(Path(partial), target)
    except BaseException as error:
        remove(partial)
        if not _is_of_writing(error, partial):
            raise
        advice = f"; {remedy(error)}" if isinstance(error, OSError) else ""
        raise OutputError(f"{path}: cannot be written: {type(error).__name__}: {error}{advice}") from error


def _is_of_writing(error: BaseException, folder: str) -> bool:
    """Return whether a folder could not be written. A local error is of another file if it names one that lies neither
    in the folder nor around it."""
    if is_remote(folder):  # each store has exceptions of its own
        return isinstance(error, Exception) and not isinstance(error, DbceError)
    if not isinstance(error, OSError):
        return False
    named = Path(folder if error.filename is None else str(error.filename))
    return named.is_relative_to(folder) or Path(folder).is_relative_to(named)
