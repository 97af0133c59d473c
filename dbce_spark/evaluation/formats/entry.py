"""The entry that every layout is read into, and the bytes it is read from."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.html import charset


@dataclass(frozen=True, slots=True)
class GoldEntry:
    """A page as a JSON line has it (`id`, `html`, `gold` and further fields), and its place for errors.

    `missing` is "" or names what keeps it from being a gold page ("no gold text"): then its fields do not count.
    """

    place: str
    fields: Mapping[str, Any]
    missing: str = ""


def stored(path: Path) -> bytes:
    """Read a file's bytes, inflated if they are gzip.

    Raises:
        InputError: it cannot be read.
    """
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def text(content: bytes, declared: str = "") -> str:
    """Decode a page or a gold text by the rules for pages in archives: the sets mix UTF-8, its byte order mark and
    Windows-1252 (study, section 3.1)."""
    return charset.decode(content, declared).html.decode("utf-8", "replace")


def page_id(html: bytes) -> str:
    """Hash a page as stored (SHA-256): the study's key, since not all sets know their URLs (figure 3.2)."""
    return hashlib.sha256(html).hexdigest()


def parsed_json(path: Path) -> Any:
    """Parse a JSON file.

    Raises:
        InputError: it cannot be read, or is no JSON.
    """
    try:
        return json.loads(stored(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no JSON: {error}") from error
