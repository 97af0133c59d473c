"""Extractors that fail in every way there is, and a small gold set of our own. Children import this module by name."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbce_spark.evaluation.datasets import GoldPage, read
from dbce_spark.evaluation.extracting.child_process import Extract

_MENU = (
    "<table><tr><td>Harbour</td></tr></table>"
    "<ul><li><a href=/>Home</a></li><li><a href=/tide>Tide tables for sailors</a></li></ul>"
)
_FOOT = "<address><i>Printed by the harbour office, all rights reserved, no anchors.</i></address>"
_STORIES = (
    "A grey seal came ashore on Tuesday and slept beside the ferry steps until the evening boat had left.",
    "The lighthouse keeper counted forty two storms this winter, nine more than his father did in his longest year.",
    "Children of the island school have painted the old crane blue because yellow paint was sold out everywhere.",
    "After eleven years the bell of the chapel rings again, though the organist says that it is a quarter tone flat.",
)


def obedient() -> Extract:
    """Gives back the HTML; hangs, dies, raises or takes too much memory where the page tells it to."""

    def extract(html: str, lang: str) -> str | None:
        if "HANG" in html:
            time.sleep(600)
        if "DIE" in html:
            os._exit(7)
        if "ABORT" in html:
            os.abort()
        if "RAISE" in html:
            raise ValueError("no\nsuch thing")
        if "HALF" in html:
            raise ValueError("half a character: \ud800")
        if "EAT" in html:
            return str(len(bytearray(1 << 30)))
        if "BURST" in html:
            os.write(2, b"memory allocation of 1073741824 bytes failed\n")  # as a program in Rust ends
            os.abort()
        return None if "NOTHING" in html else f"{lang}:{html}"

    return extract


class Elsewhere:
    """Works in a process of its own, which it tells the number of, and which outlives it if nobody ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def __call__(self, html: str, lang: str) -> str:
        if "HANG" in html:
            time.sleep(600)
        return str(self._process.pid)

    def clock(self) -> float:
        """An hour more each time it is asked."""
        Elsewhere.hours += 1
        return 3600.0 * Elsewhere.hours

    hours = 0


def stillborn() -> Extract:
    """Ends its process while it is loaded."""
    os._exit(9)


def lacking() -> Extract:
    """Needs a package that nobody has."""
    raise ImportError("No module named 'nobody_has_this'")


def line(page_id: str, html: str = "<p>one two</p>", gold: str = "one two", **fields: Any) -> dict[str, Any]:
    """The fields of one line of a gold file."""
    return {"id": page_id, "html": html, "gold": gold, "dataset": "made", **fields}


def own_set() -> list[dict[str, Any]]:
    """Four pages of one site and template, and one page alone."""
    lines = [
        line(
            f"story-{number}",
            f"<html><body>{_MENU}<div><h1>Story number {number}</h1><p>{story}</p></div>{_FOOT}</body></html>",
            story,
            site="harbour.example",
            url=f"http://harbour.example/{number}.html",
            lang="en",
        )
        for number, story in enumerate(_STORIES)
    ]
    return [*lines, line("alone", f"<html><body><p>{_STORIES[0]}</p></body></html>", _STORIES[0])]


def written(folder: Path, lines: Sequence[dict[str, Any]], name: str = "made.jsonl") -> str:
    """A file of gold pages."""
    path = folder / name
    path.write_text("".join(json.dumps(fields) + "\n" for fields in lines), encoding="utf-8")
    return str(path)


def gold_pages(folder: Path, lines: Sequence[dict[str, Any]]) -> list[GoldPage]:
    """The same, read."""
    return read([written(folder, lines)]).sets["made"]
