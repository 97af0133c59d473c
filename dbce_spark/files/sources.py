"""Input files: list the files that an argument names, and open them.

An argument is a file, a folder (searched at every depth), a glob, or a manifest `@paths.txt` with one argument a line;
each of them local or any URL that fsspec supports (s3://, http://, hdfs://, ...; its driver package must be installed).
What is there under its very name is no glob, whatever `[`, `*` or `?` are in it.
"""

import gzip
import io
import logging
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from dbce_spark.errors import InputError, installs

MEMBER = "!/"
"""Stands between a WACZ and the path of a file in it: "crawl.wacz!/archive/data.warc.gz"."""

READ_AHEAD = 8 << 20
"""Bytes read at once from a remote store: one request for each would make a WARC 20 times slower."""

_EXTRAS = {"s3": "s3", "s3a": "s3", "http": "http", "https": "http"}
"""The extras that bring the drivers of URLs."""
_FILE_URL = re.compile(r"file:(?://(?:localhost)?(?=/)|(?!//))(/.*)", re.DOTALL)
_LOGGER = logging.getLogger("dbce_spark.files")
_LIKE_ARCHIVE = re.compile(
    r"\.(?:w?arc|wacz)(?!\w)(?!.*\.(?:md5|sha\d+|(?:md5|sha\d*)sums?|cdxj?|idx|csv|jsonl?|txt|log|xml|html?)$)"
    r"|\.(?:gz|bz2|xz|zstd?|lz4|7z|zip)$",
    re.IGNORECASE,
)
"""Names that an archive may have, also an unfinished (.warc.gz.open), numbered (.1) or kept one (.bak); not those of
checksums, indexes and notes beside it."""

_AT_ONCE = 16
"""Remote arguments that are looked up at the same time."""
_ALL = ("*",)
"""The pattern that all names fit."""
_XZ, _GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"


def expand(arguments: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """List all files that the arguments name, sorted, each once.

    `patterns` (such as "*.warc.gz") select the files of a folder; a file named in full or by a glob is always taken.

    Raises:
        InputError: an argument names nothing, or its storage cannot be reached.
    """
    from concurrent.futures import ThreadPoolExecutor  # only here: most programs open a file or two

    # A manifest may name a hundred thousand objects, and a store takes hundredths of a second for each.
    with ThreadPoolExecutor(_AT_ONCE if len(arguments) > 1 and any(map(is_remote, arguments)) else 1) as threads:
        found = threads.map(partial(_listed, patterns=patterns), arguments)
        return sorted({*chain.from_iterable(found)})


def _listed(argument: str, patterns: Sequence[str]) -> list[str]:
    if not argument:  # of a variable that is not set; as a path it would be the folder that the program stands in
        raise InputError("an input is empty; name a file or a folder, such as . for this one")
    taken = list_files(argument, patterns)
    if not taken:
        raise InputError(f"{argument}: {_lack_of_files(argument, patterns)}")
    return taken


def _lack_of_files(argument: str, patterns: Sequence[str]) -> str:
    if argument == "-":
        return "only `dbce text -` reads standard input; write it to a file, and name that"
    if is_folder(argument):
        return f"no file in this folder is named {', '.join(patterns)}; name others in full or by a glob"
    hint = "; in a glob a bracket begins a set of letters, and [[] stands for itself" if "[" in argument else ""
    return f"nothing to read is there; give a file, a folder, a glob, a URL with its https://, or @manifest{hint}"


def list_files(argument: str, patterns: Sequence[str]) -> list[str]:
    """List the files that an argument names; none, if there is nothing.

    Raises:
        InputError: its storage cannot be reached.
    """
    if argument.startswith("@"):
        return expand(read_manifests([argument]), patterns)
    argument = without_file_scheme(argument)
    try:
        filesystem, path = file_system(argument)
        if is_remote(argument):
            return [*map(filesystem.unstrip_protocol, _stored_names(filesystem, path, patterns))]
        path = _plain(path)
        if os.path.lexists(path):
            return _in_folder(path, patterns) if Path(path).is_dir() else [_regular(path)]
        return [_plain(name) for name in _globbed(filesystem, path) if _is_taken(name)]
    except InputError:
        raise
    except Exception as error:  # each store has exceptions of its own
        raise InputError(f"{argument}: cannot be listed: {cause(argument, error)}") from error


def _stored_names(filesystem: Any, path: str, patterns: Sequence[str]) -> list[str]:
    """List the names of the files that a path in a store means: one, those of a glob, or those of a folder."""
    if fits(path, patterns) and filesystem.isfile(path):
        return [path]  # asked first: a web server sends all of a file to the question whether it is a folder
    if names := _globbed(filesystem, path):
        return names
    if filesystem.isdir(path):
        return [name for name in filesystem.find(path) if fits(name, patterns)]
    return [path] if filesystem.exists(path) else []


def _globbed(filesystem: Any, path: str) -> list[str]:
    """List the names of the files that a glob means; none for a path that is no glob."""
    is_glob = any(sign in path for sign in "*?[")
    return [name for name in filesystem.glob(path) if not filesystem.isdir(name)] if is_glob else []


def cause(path: str, error: Exception) -> str:
    """Name in one line what a store lacks: its driver, credentials, or the place itself."""
    lines = str(error).strip().splitlines()
    first = lines[0] if lines else type(error).__name__
    if isinstance(error, ImportError):
        extra = _EXTRAS.get(path.partition("://")[0])
        how = f": {installs(extra)}" if extra else f" ({first})"
        return f"its driver is not installed{how}"
    if "libhdfs" in first or "libjvm" in first:
        return (
            f"{first}; install Hadoop's client with its libhdfs and a Java on this machine and all workers, and set"
            " HADOOP_HOME, JAVA_HOME and CLASSPATH (docs/operations.md, HDFS)"
        )
    if "credential" in first.lower() or (is_remote(path) and isinstance(error, PermissionError)):
        return (
            f"{first}; give credentials as its own tools take them, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return first


def is_folder(argument: str) -> bool:
    """Return whether an argument names a folder.

    Raises:
        InputError: its storage cannot be reached.
    """
    if not is_remote(argument):
        return bool(argument) and Path(argument).is_dir()
    try:
        filesystem, path = file_system(argument)
        return bool(filesystem.isdir(path))
    except Exception as error:  # each store has exceptions of its own
        raise InputError(f"{argument}: cannot be listed: {cause(argument, error)}") from error


def files_below(folder: str) -> list[str]:
    """List all files of a folder, at every depth, sorted; a name need not be text. What is no file is passed over with
    a warning."""
    if is_remote(folder):
        return sorted(list_files(folder, _ALL))
    return sorted(path for path in walk(folder, _ALL, _warn_of_folder) if _has_no_lack(path, _lack_of_kind(path)))


def list_unread(arguments: Sequence[str], patterns: Sequence[str], index_patterns: Sequence[str] = ()) -> list[str]:
    """List what `expand` passes over in local folders: pipes, links to nothing, folders that cannot be listed.

    To open one of them is an error, by which an account has it. A name that is no text stands in no account. Files that
    fit no pattern are not listed; a warning has the number of those that are called as an archive may be, and not as an
    index.

    Raises:
        InputError: a manifest cannot be read, or leads back to itself.
    """
    named = (one for one in read_manifests(arguments) if not is_remote(one))
    folders = [absolute(one) for one in named if Path(one).is_dir()]
    unlisted: list[OSError] = []
    found = {path for folder in folders for path in walk(folder, _ALL, unlisted.append)}
    fitting = {path for path in found if fits(path, patterns)}
    others = [
        path for path in found - fitting if _LIKE_ARCHIVE.search(Path(path).name) and not fits(path, index_patterns)
    ]
    if others:
        _LOGGER.warning(
            "files passed over: %s, such as %s; of a folder only names that fit input.patterns (conf/dbce.toml) are"
            " read; name others in full or by a glob",
            f"{len(others):,}",
            shown(min(others)),
        )
    return sorted(filter(is_utf8, {*filter(_lack, fitting), *(error.filename for error in unlisted)}))


def _in_folder(folder: str, patterns: Sequence[str]) -> list[str]:
    """List the files of a local folder, at every depth. What cannot be read is passed over with a warning."""
    return [path for path in walk(folder, patterns, _warn_of_folder) if _is_taken(path)]


def walk(folder: str, patterns: Sequence[str], refused: Callable[[OSError], None]) -> Iterator[str]:
    """Iterate over the paths below a local folder whose names fit, each folder once; `refused` is called with folders
    that cannot be listed."""
    seen: set[str] = set()
    for above, folders, names in os.walk(folder, onerror=refused, followlinks=True):
        if (real := os.path.realpath(above)) in seen:
            folders.clear()
            continue
        seen.add(real)
        # Links last: a file has the same name when another link to its folder appears.
        folders.sort(key=lambda one: (Path(above, one).is_symlink(), one))
        yield from (os.path.join(above, name) for name in names if fits(name, patterns))  # noqa: PTH118


def _warn_of_folder(error: OSError) -> None:
    _LOGGER.warning("%s: this folder is not read: %s", error.filename, error.strerror)


def _is_taken(path: str) -> bool:
    """Return whether a local path is one of a file that can be read, and its name is text; warn of any other."""
    return _has_no_lack(path, _lack(path))


def _has_no_lack(path: str, lack: str) -> bool:
    """Return whether a path has no lack; warn of one that has. `dbce extract` counts it as a failed file."""
    if lack:
        _LOGGER.warning("%s: not read: %s", shown(path), lack)
    return not lack


def _regular(path: str) -> str:
    """Return the path of a local file that was named in full.

    Raises:
        InputError: it is none.
    """
    if lack := _lack(path):
        raise InputError(f"{shown(path)}: {lack}")
    return path


def _lack(path: str) -> str:
    """Return why a local path is no file to be read, "" if it is one: a pipe would block, a device never end."""
    if not is_utf8(path):
        return "its name is not UTF-8, and no table can hold it; rename the file"
    return _lack_of_kind(path)


def _lack_of_kind(path: str) -> str:
    if Path(path).is_file():
        return ""
    return "it is a link to nothing" if not Path(path).exists() else "it is a pipe, socket or device, no file"


def is_utf8(name: str) -> bool:
    """Return whether the name of a file, or an argument, is text: what is none has halves of characters in it."""
    return shown(name) == name


def shown(path: str) -> str:
    """Return a path as text: "?" stands for what of it is none."""
    return path.encode("utf-8", "replace").decode()


def read_manifests(arguments: Iterable[str]) -> list[str]:
    """List the arguments, with the lines of manifests in their place.

    Raises:
        InputError: a manifest cannot be read, is empty, or leads back to itself.
    """
    return [*_lines(arguments, ())]


def _lines(arguments: Iterable[str], around: tuple[str, ...]) -> Iterator[str]:
    """Iterate over arguments, and the lines of manifests among them; `around` are the manifests that these are from."""
    for argument in arguments:
        if not argument.startswith("@"):
            yield without_file_scheme(argument)
        elif argument in around:
            raise InputError(f"{argument}: this manifest leads back to itself: {' -> '.join((*around, argument))}")
        else:
            lines = _manifest(without_file_scheme(argument[1:]))
            if not lines:
                raise InputError(f"{argument}: this manifest names nothing; write a file, a folder or a glob a line")
            yield from _lines(lines, (*around, argument))


def _manifest(path: str) -> list[str]:
    try:
        with _opened_text(path) as lines:
            stripped = [line.strip() for line in lines]
    except Exception as error:  # each store has exceptions of its own
        raise InputError(f"@{path}: the manifest cannot be read: {cause(path, error)}") from error
    return [line for line in stripped if line and not line.startswith("#")]


def _opened_text(path: str) -> Any:
    if not is_remote(path):
        return Path(path).open(encoding="utf-8-sig")  # of a pipe, too, where fsspec asks for a place
    import fsspec  # only here and below: 20 ms, which a page that is handed over need not wait for

    return fsspec.open(path, "rt", encoding="utf-8-sig")


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Return whether the name of a file fits one of some patterns."""
    return any(fnmatch(name.rsplit("/", 1)[-1].lower(), pattern) for pattern in patterns)


def is_remote(path: str) -> bool:
    """Return whether a path is a URL, and not of this machine's file system."""
    return "://" in path


def without_file_scheme(path: str) -> str:
    """Return the local path that a URL such as file:/srv/a or file:///srv/a names; any other path as it is."""
    named = _FILE_URL.fullmatch(path)
    return named[1] if named else path


def is_web_url(name: str) -> bool:
    """Return whether a name is the URL of something on the web."""
    return name.lower().startswith(("http://", "https://"))


def file_system(path: str) -> tuple[Any, str]:
    """Return fsspec's file system of a path or URL, and its name there.

    Raises:
        ValueError, ImportError: there is no driver for it.
    """
    from fsspec.core import url_to_fs

    found: tuple[Any, str] = url_to_fs(path)
    return found


def absolute(path: str) -> str:
    """Make a local path absolute, so that it holds in every worker, and plain; return another URL, and "", as they
    are."""
    path = without_file_scheme(path)
    return path if not path or is_remote(path) else _plain(str(Path(path).absolute()))


def _plain(path: str) -> str:
    """Return an absolute local path without doubled slashes, `.` and `..`: however it is spelled, a file has one name.

    Links stay, as names that were chosen; behind one `..` may lead elsewhere, and stays, too. The name is the same
    before the file is there.
    """
    plain = f"/{os.path.normpath(path).lstrip('/')}"
    is_elsewhere = ".." in Path(path).parts and os.path.realpath(path) != os.path.realpath(plain)
    return path if is_elsewhere else plain


def open_binary(path: str) -> BinaryIO:
    """Open a buffered, seekable stream of a file's bytes as stored (never decompressed by its name).

    Raises:
        OSError: it cannot be read, or is no file: a pipe would block.
    """
    if not is_remote(path):
        if Path(path).exists() and not Path(path).is_file():
            raise OSError(
                "a folder that cannot be listed" if Path(path).is_dir() else "a pipe, socket or device, no file"
            )
        return Path(path).open("rb", buffering=1 << 20)
    import fsspec

    remote = fsspec.open(path, "rb", compression=None).open()
    return io.BufferedReader(cast(io.RawIOBase, remote), READ_AHEAD)


@contextmanager
def open_decompressed(path: str) -> Iterator[BinaryIO]:
    """Open a file, decompressed by its first bytes (xz, gzip), not by its name."""
    with open_binary(path) as stream:
        start = stream.read(len(_XZ))
        stream.seek(0)
        if start == _XZ:
            with lzma.open(stream, "rb") as inner:
                yield cast(BinaryIO, inner)
        elif start.startswith(_GZIP):
            with gzip.open(stream, "rb") as inner:
                yield cast(BinaryIO, inner)
        else:
            yield stream


def size(path: str) -> int:
    """Return the bytes of a file, -1 where the store does not give them."""
    filesystem, inner = file_system(path)
    stored = filesystem.info(inner).get("size")
    return -1 if stored is None else int(stored)


def size_or(path: str, otherwise: int) -> int:
    """Return the bytes of a file, `otherwise` where the store does not give them, or it cannot be read."""
    try:
        stored = size(path)
    except Exception:  # each store has exceptions of its own
        return otherwise
    return otherwise if stored < 0 else stored
