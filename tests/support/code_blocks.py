"""The blocks of code in README, CONTRIBUTING and docs/*.md, and the commands in them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{one.name}" for one in sorted((ROOT / "docs").glob("*.md"))))
_BETWEEN = re.compile(r"[;&|()]+")


@dataclass(frozen=True)
class Block:
    """`kind` is what stands behind its fence; "" of one that is only indented. Lines count from 1."""

    page: str
    line: int
    kind: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def blocks() -> list[Block]:
    """All blocks, page by page."""
    markdown = MarkdownIt()
    return [
        Block(page, one.map[0] + 1 if one.map else 0, one.info, one.content)
        for page in PAGES
        for one in markdown.parse((ROOT / page).read_text(encoding="utf-8"))
        if one.type in ("fence", "code_block")
    ]


def inline(page: str) -> list[str]:
    """List the code in the prose of a page."""
    found = []
    for one in MarkdownIt().enable("table").parse((ROOT / page).read_text(encoding="utf-8")):
        found += [child.content for child in one.children or [] if child.type == "code_inline"]
    return found


def commands(code: str) -> Iterator[list[str]]:
    """The words of each simple command of a shell's text: no settings before it, no redirections, no comments."""
    for line in code.replace("\\\n", " ").splitlines():
        # `case` names what it waits for as no other command does.
        plain = re.sub(r"(\bin|;;)\s*[^\s()]+\)", r"\1 ;", line)
        lexer = shlex.shlex(plain, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        words: list[str] = []
        is_target = False
        for word in [*lexer, ";"]:
            if is_target or word in (">", ">>", "<"):
                is_target = not is_target
            elif _BETWEEN.fullmatch(word):
                if words:
                    yield words
                words = []
            elif words or not re.match(r"\w+=", word):
                words.append(word)
