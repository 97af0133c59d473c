"""The paths of an index's archives. An index is not trusted: no file name in it leads out of the given folder."""

import re
from urllib.parse import quote, unquote

from dbce_spark.files.sources import MEMBER, is_web_url

_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:")


class UnsafePath(ValueError):
    """A file name leads out of its folder; the message says how."""


def folder_of(path: str) -> str:
    """Return the folder of a file, local or a URL, as `locate` takes it; "." for a bare name."""
    folder, slash, _ = path.rpartition("/")
    return (folder or "/") if slash else "."


def locate(filename: str, base: str) -> str:
    """Return the path of a file that an index names, below `base` (a folder, or a URL of any kind that fsspec
    supports).

    A name that is itself absolute or a URL passes only where it lies below `base` as written.

    Raises:
        UnsafePath: the name is absolute, has a scheme, a step upwards, or characters that no file name needs.
    """
    stem = base.rstrip("/") + "/"
    inner = filename.removeprefix(stem) if base else filename
    if _CONTROL.search(inner) or not inner:
        raise UnsafePath(f"{filename[:200]!r} is no file name")
    if "://" in inner or "::" in inner or MEMBER in inner:
        raise UnsafePath(f"{filename[:200]!r} is a URL or a chain of files, not a file below {base}")
    if inner.startswith(("/", "\\", "~")) or _DRIVE.match(inner):
        raise UnsafePath(f"{filename[:200]!r} is absolute, not a file below {base}")
    # A server, and a URL parser before it, undoes percent-encoding before it goes up.
    if any(".." in re.split(r"[/\\]", written) for written in (inner, unquote(inner), unquote(unquote(inner)))):
        raise UnsafePath(f"{filename[:200]!r} leads out of {base}")
    if is_web_url(base):
        inner = quote(inner, safe="/%:@!$&'()*+,;=~")
    return stem + inner if base not in ("", ".") else inner
