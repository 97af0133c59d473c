"""All captures of one URL in a collection, and what they tell a person of it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow.compute as pc
from rapidfuzz.distance import Indel

from dbce_spark import history
from dbce_spark.collection import CAPTURES, EXTRACTIONS, MEMBERS, Collection, Version
from dbce_spark.errors import InputError
from dbce_spark.history import ADDED, EDITED, MOVED, RELABELLED, REMOVED, REPLACED, Change, Moment, Piece
from dbce_spark.selection.urls import url_key

_EXTRACTED = ["capture_id", "page_text", "segments", "template_id"]
_SIGNS = {ADDED: "+", REMOVED: "-", EDITED: "~", REPLACED: "=", MOVED: ">", RELABELLED: "*"}
_GREEN, _RED, _BOLD, _DIM, _PLAIN = "\033[32m", "\033[31m", "\033[1m", "\033[2m", "\033[0m"
_WIDTH = 300
"""Characters of a text that are shown."""


def moments(of: Collection, version: Version, url: str) -> list[Moment]:
    """The captures of a URL, in order of time.

    Raises:
        InputError: there is none.
    """
    is_url = pc.field("url_key") == url_key(url)
    pages = {row["capture_id"]: row for row in _rows(of, version, EXTRACTIONS, _EXTRACTED, is_url)}
    signatures = {
        row["capture_id"]: np.frombuffer(row["signature"], "<u4")
        for row in _rows(of, version, MEMBERS, ["capture_id", "signature"], is_url)
        if row["signature"]
    }
    fetched = _rows(of, version, CAPTURES, ["capture_id", "extraction_id", "timestamp"], is_url)
    line = sorted(fetched, key=lambda row: (row["timestamp"], row["capture_id"]))
    found: list[Moment] = []
    before = None
    for row in line:
        if row["extraction_id"] not in pages:  # a revisit of what another URL held
            continue
        page, signature = pages[row["extraction_id"]], signatures.get(row["extraction_id"])
        found.append(
            Moment(
                capture_id=row["capture_id"],
                timestamp=round(row["timestamp"].timestamp() * 1e6),
                pieces=history.pieces(page["page_text"], page["segments"]),
                template_id=page["template_id"],
                similarity=-1.0 if before is None or signature is None else float(np.mean(before == signature)),
            )
        )
        before = signature
    if not found:
        raise InputError(f"{of.folder} has no capture of {url} (as {url_key(url)}) in version {version.number}")
    return found


def _rows(
    of: Collection, version: Version, table: str, columns: list[str], where: pc.Expression
) -> Iterator[dict[str, Any]]:
    for batch in of.rows(version, table, columns, where):
        yield from batch.to_pylist()


def text(url: str, line: Sequence[Moment], threshold: float, *, everything: bool, coloured: bool) -> str:
    """What became of a page, capture by capture: of its content, or with `everything` of its boilerplate too."""
    paint = _Paint(coloured)
    out = [f"{url}: {len(line)} captures, {_day(line[0])} to {_day(line[-1])}"]
    same = 0
    for before, after in pairwise(line):
        found = [one for one in history.changes(before, after) if everything or _concerns(one)]
        redesigned = history.is_redesigned(after, threshold)
        if not found and not redesigned:
            same += 1
            continue
        out += _unchanged(same)
        same = 0
        out += ["", paint.bold(_day(after))]
        if redesigned:
            out.append(f"  template redesigned ({after.similarity:.0%} of the one before): {_named(before, after)}")
        out += [f"  {_SIGNS[one.kind]} {_told(one, paint)}" for one in found]
    out += _unchanged(same)
    return "\n".join([*out, "", *_stood(line, paint)])


def _unchanged(captures: int) -> list[str]:
    return ["", f"unchanged in {captures} more"] if captures else []


def _concerns(change: Change) -> bool:
    """Whether a change is one of the content."""
    return any(piece is not None and piece.label == "content" for piece in (change.before, change.after))


def _named(before: Moment, after: Moment) -> str:
    return f"{before.template_id[:8] or 'none'} to {after.template_id[:8] or 'none'}"


def _told(change: Change, paint: "_Paint") -> str:
    before, after = (_short(piece) for piece in (change.before, change.after))
    if change.kind == ADDED:
        return paint.green(after)
    if change.kind == REMOVED:
        return paint.red(before)
    if change.kind == EDITED:
        return paint.words(before.split(" "), after.split(" "))
    if change.kind == REPLACED:
        return f"{paint.red(before)}\n    {paint.green(after)}"
    if change.kind == RELABELLED and change.before and change.after:
        return f"{after} {paint.dim(f'({change.before.label}, now {change.after.label})')}"
    return after


def _short(piece: Piece | None) -> str:
    if piece is None:
        return ""
    return piece.text if len(piece.text) <= _WIDTH else f"{piece.text[:_WIDTH]}..."


def _stood(line: Sequence[Moment], paint: "_Paint") -> Iterator[str]:
    """How long each text of the content stood."""
    yield paint.bold("content: first seen, last seen, captures")
    for one in history.lives(line):
        if one.label == "content":
            fate = f", {one.end}" if one.end else ""
            moved = f", moved {one.moves} times" if one.moves else ""
            seen = f"{_date(one.first_seen)}  {_date(one.last_seen)}  {one.captures:>4}"
            yield f"  {seen}  {one.text[:80]}{paint.dim(fate + moved)}"


def _day(moment: Moment) -> str:
    return datetime.fromtimestamp(moment.timestamp / 1e6, UTC).strftime("%Y-%m-%d %H:%M")


def _date(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d")


class _Paint:
    """Text in colours, or in signs where there are none."""

    def __init__(self, coloured: bool):
        self._coloured = coloured

    def _in(self, code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if self._coloured else text

    def green(self, text: str) -> str:
        return self._in(_GREEN, text)

    def red(self, text: str) -> str:
        return self._in(_RED, text)

    def bold(self, text: str) -> str:
        return self._in(_BOLD, text)

    def dim(self, text: str) -> str:
        return self._in(_DIM, text)

    def words(self, before: Sequence[str], after: Sequence[str]) -> str:
        """The later text, with what went and what came word by word."""
        out: list[str] = []
        gone: list[str] = []
        come: list[str] = []
        for step in Indel.opcodes(before, after):
            gone += before[step.src_start : step.src_end] if step.tag == "delete" else []
            come += after[step.dest_start : step.dest_end] if step.tag == "insert" else []
            if step.tag == "equal":
                out += [*self._exchanged(gone, come), *after[step.dest_start : step.dest_end]]
                gone, come = [], []
        return " ".join([*out, *self._exchanged(gone, come)])

    def _exchanged(self, gone: Sequence[str], come: Sequence[str]) -> Iterator[str]:
        if gone:
            yield self.red(self._marked("[-", gone, "-]"))
        if come:
            yield self.green(self._marked("{+", come, "+}"))

    def _marked(self, opened: str, words: Sequence[str], closed: str) -> str:
        inside = " ".join(words)
        return inside if self._coloured else f"{opened}{inside}{closed}"
