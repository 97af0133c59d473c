"""List all captures of one URL, and what changed between them, as lines for a person."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from rapidfuzz.distance import Indel

from dbce_spark.archive.index.urls import url_key
from dbce_spark.errors import InputError
from dbce_spark.files.timestamps import day, from_datetime, minute
from dbce_spark.output.collection import CAPTURES, EXTRACTIONS, MEMBERS
from dbce_spark.output.history import page_history
from dbce_spark.output.history.page_history import (
    ADDED,
    EDITED,
    MOVED,
    RELABELLED,
    REMOVED,
    REPLACED,
    Change,
    HistoryStep,
    Life,
    Moment,
    Piece,
)
from dbce_spark.output.output_reader import Output
from dbce_spark.output.schemas.codec import decode_row
from dbce_spark.output.schemas.page_rows import SIGNATURE

_ROWS = 1024
_EXTRACTED = ["page_text", "segments", "template_id"]
_SIGNS = {ADDED: "+", REMOVED: "-", EDITED: "~", REPLACED: "=", MOVED: ">", RELABELLED: "*"}
_GREEN, _RED, _BOLD, _DIM, _PLAIN = "\033[32m", "\033[31m", "\033[1m", "\033[2m", "\033[0m"
COLOURS = {"+": _GREEN, "-": _RED, "@": _DIM, "": _PLAIN}
"""Of a line of a diff, by its sign; "" ends them."""
_WIDTH = 160
"""Characters of a text that are shown: two lines of a terminal."""
_AROUND = 6
"""Words that are shown before and behind what was edited."""
_LINE = 80
"""Characters of a text in a list."""
_NAMED = 3
"""Texts that are named where many have the same change."""


def moments(output: Output, url: str) -> list[Moment]:
    """Read the captures of a URL, in order of time; with signatures in a collection, as only that keeps them.

    Raises:
        InputError: there is none.
    """
    fetched, pages = captures_of(output, url, _EXTRACTED)
    is_one = pc.field("capture_id").isin(sorted(pages))
    signed = _rows(output, MEMBERS, ["capture_id", "signature"], is_one)
    signatures = {row["capture_id"]: np.frombuffer(row["signature"], SIGNATURE) for row in signed if row["signature"]}
    pieces = {one: page_history.pieces(row["page_text"], row["segments"]) for one, row in pages.items()}
    return [
        decode_row(
            Moment,
            row,
            timestamp=from_datetime(row["timestamp"]),
            pieces=pieces[row["extraction_id"]],
            template_id=pages[row["extraction_id"]]["template_id"],
            signature=signatures.get(row["extraction_id"]),
        )
        for row in fetched
    ]


def captures_of(
    output: Output, url: str, columns: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Read the rows of `captures` of a URL in order of time, and these columns of their extractions, by their ids.

    Raises:
        InputError: there is none.
    """
    is_url = pc.field("url_key") == url_key(url)
    fetched = [*_rows(output, CAPTURES, None, is_url)]
    ids = {row["extraction_id"] for row in fetched}
    wanted = ["capture_id", *columns]
    pages = {row["capture_id"]: row for row in _rows(output, EXTRACTIONS, wanted, is_url)}
    if elsewhere := ids - pages.keys():  # revisits of what other URLs held
        is_one = pc.field("capture_id").isin(sorted(elsewhere))
        pages |= {row["capture_id"]: row for row in _rows(output, EXTRACTIONS, wanted, is_one)}
    line = sorted(fetched, key=lambda row: (row["timestamp"], row["capture_id"]))
    found = [row for row in line if row["extraction_id"] in pages]
    if not found:
        raise InputError(f"{output.root} has no capture of {url} (as {url_key(url)})")
    return found, pages


def _rows(output: Output, table: str, columns: list[str] | None, where: pc.Expression) -> Iterator[dict[str, Any]]:
    for batch in output.table_files(table).batches(columns, rows=_ROWS, where=where):
        yield from batch.to_pylist()


def text(url: str, line: Sequence[Moment], threshold: float, *, everything: bool, coloured: bool) -> str:
    """Describe the changes of a page, capture by capture: of its content, or with `everything` of its boilerplate
    too."""
    paint = _Paint(coloured)
    if len(line) == 1:
        return f"{url}: 1 capture, {minute(line[0].timestamp)}; there is nothing to set it beside"
    out = [f"{url}: {len(line)} captures, {minute(line[0].timestamp)} to {minute(line[-1].timestamp)}"]
    same: list[Moment] = []
    steps = [*page_history.steps(line)]
    for step in steps:
        found = [one for one in step.changes if everything or _concerns(one)]
        if not found and not step.is_redesigned(threshold):
            same.append(step.after)
            continue
        out += _unchanged(same, everything=everything)
        same = []
        out += ["", paint.bold(minute(step.after.timestamp)) + _counted(found)]
        if step.is_redesigned(threshold):
            out.append(f"  template redesigned: {step.similarity:.0%} as before{_named(step)}")
        out += [f"  {one}" for one in _lines(found, paint)]
    out += _unchanged(same, everything=everything)
    return "\n".join([*out, "", *_stood(steps, paint, everything=everything)])


def _unchanged(same: Sequence[Moment], *, everything: bool) -> list[str]:
    if not same:
        return []
    what = "" if everything else "content "
    return ["", f"{what}unchanged in {len(same)} more, to {minute(same[-1].timestamp)}"]


def _counted(found: Sequence[Change]) -> str:
    kinds = Counter(one.kind for one in found)
    summary = ", ".join(f"{kinds[kind]} {kind}" for kind in _SIGNS if kinds[kind])
    return f"  {summary}" if summary else ""


def _concerns(change: Change) -> bool:
    """Return True if a change is one of the content."""
    return any(piece is not None and piece.label == "content" for piece in (change.before, change.after))


def _named(step: HistoryStep) -> str:
    """Name both templates, where both have an id."""
    names = [one.template_id[:8] for one in (step.before, step.after)]
    return f" ({names[0]}, now {names[1]})" if all(names) else ""


def _lines(found: Sequence[Change], paint: "_Paint") -> Iterator[str]:
    """Write the changes, in the order of the page; a change that many texts share is written once, behind all
    others."""
    respelled = [one.after.text for one in found if _is_respelled(one) and one.after]
    many = len(respelled) > _NAMED
    repeats = Counter(
        f"{_SIGNS[one.kind]} {_described(one, paint)}"
        for one in found
        if one.kind != RELABELLED and not (many and _is_respelled(one))
    )
    for line, times in repeats.items():
        yield f"{line}{paint.dim(f' ({times} times)') if times > 1 else ''}"
    if many:
        what = paint.dim("(the same words, otherwise spelled or ordered)")
        yield f"{_SIGNS[EDITED]} {_named_texts(respelled)} {what}"
    texts: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.kind == RELABELLED and one.before and one.after:
            texts.setdefault((one.before.label, one.after.label), []).append(one.after.text)
    for (before, after), relabelled in texts.items():
        yield f"{_SIGNS[RELABELLED]} {_named_texts(relabelled)} {paint.dim(f'({before}, now {after})')}"


def _is_respelled(change: Change) -> bool:
    """Return True if a text was edited in nothing but case, punctuation and order."""
    if change.kind != EDITED or not change.before or not change.after:
        return False
    return {*page_history.words(change.before.text)} == {*page_history.words(change.after.text)}


def _named_texts(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return f"{' | '.join(_cut(text, _LINE) for text in texts[:_NAMED])}{more}"


def _described(change: Change, paint: "_Paint") -> str:
    before, after = (_short(piece) for piece in (change.before, change.after))
    if change.kind == ADDED:
        return paint.green(after)
    if change.kind == REMOVED:
        return paint.red(before)
    if change.kind == EDITED and change.before and change.after:
        return paint.words(change.before.text.split(" "), change.after.text.split(" "))
    if change.kind == REPLACED:
        return f"{paint.red(before)}\n    {paint.green(after)}"
    return after


def _short(piece: Piece | None) -> str:
    return _cut(piece.text, _WIDTH) if piece else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _stood(steps: Sequence[HistoryStep], paint: "_Paint", *, everything: bool) -> Iterator[str]:
    """List how long each text of the content stood; texts present throughout only as a number, or with `everything` one
    by one."""
    first, last = steps[0].before, steps[-1].after
    captures = len(steps) + 1
    found = [one for one in page_history.lives(first, steps) if everything or one.label == "content"]
    listed = found if everything else [one for one in found if one.captures < captures]
    what = "texts" if everything else "content"
    yield paint.bold(f"{what}: first seen, last seen, captures")
    if always := len(found) - len(listed):
        yield f"  {day(first.timestamp)}  {day(last.timestamp)}  {captures:>4}  all the time: {always}"
    for one in listed:
        seen = f"{day(one.first_seen)}  {day(one.last_seen)}  {one.captures:>4}"
        yield f"  {seen}  {_cut(one.text, _LINE)}{paint.dim(_outcome(one))}"


def _outcome(one: Life) -> str:
    moved = f"moved {one.moves} times" if one.moves > 1 else "moved" * one.moves
    return "".join(f", {event}" for event in (one.ended, moved) if event)


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
        """Write the later text, with removed and added words marked. In a long text, unchanged words far from a change
        are left out."""
        out: list[str] = []
        gone: list[str] = []
        come: list[str] = []
        steps = [*Indel.opcodes(before, after)]
        is_short = sum(len(word) + 1 for word in after) <= _WIDTH
        for step in steps:
            gone += before[step.src_start : step.src_end] if step.tag == "delete" else []
            come += after[step.dest_start : step.dest_end] if step.tag == "insert" else []
            if step.tag == "equal":
                out += self._exchanged(gone, come)
                kept = after[step.dest_start : step.dest_end]
                out += kept if is_short else _near(kept, is_first=step is steps[0], is_last=step is steps[-1])
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


def _near(kept: Sequence[str], *, is_first: bool, is_last: bool) -> list[str]:
    """Keep those unchanged words that stand next to a change."""
    head = 0 if is_first else _AROUND
    tail = 0 if is_last else _AROUND
    if len(kept) <= head + tail + _AROUND:  # no shorter with the middle left out
        return [*kept]
    return [*kept[:head], "...", *kept[len(kept) - tail :]]
