"""Code as its author wrote it: lines, language, no numbers of lines and no buttons."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS, CELL_TAGS, CODE_TAGS, LINE_END_TAGS, is_line_of_code
from dbce_spark.html.removal import remove_element, remove_elements
from dbce_spark.html.structure.code_languages import language_of
from dbce_spark.html.structure.kept_text import space_of

_INLINE_TAGS = ("code", "samp", "kbd", "tt")
_MOST_PARTS, _MOST_CHARS = 20, 400
"""Texts and characters of the name of a language, with all white space around it."""
_ABOVE = 3
"""Elements around a line that may say it is code."""
_PREFORMATTED = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)
_LINE_TAGS = BLOCK_TAGS - CELL_TAGS
_LINE_CLASSES = frozenset("blob-code crayon-line ltx_listingline".split())
"""Of elements that are lines of code: of GitHub, Crayon and LaTeXML."""
_LINE, _LISTINGS = "line", frozenset("code fragment syntaxhighlighter".split())
"""A class of lines also of poems; and classes around it where it is code: of Doxygen and SyntaxHighlighter."""
_MARKS = (*sorted(_LINE_CLASSES), f"\n{_LINE}")
"""One of them is in every page that has such lines."""


def normalise_code(root: Any, classes: str) -> None:
    """Make each block of code a <pre> of text alone, with its language in the attribute `language`.

    `classes` are those of all elements (`classes_of`).
    """
    written = {*root.iter(*CODE_TAGS)}
    if any(mark in classes for mark in _MARKS):
        _join_line_elements(root)
    blocks: dict[Any, None] = {}
    for code in [*root.iter(*_INLINE_TAGS)]:
        if _is_block_of_code(code):
            code.tag = "pre"
        elif (block := code.getparent()) is not None:
            blocks[block] = None
    for block in blocks:
        if _is_lines_of_code(block):
            _join_lines(block)
    tables: set[Any] = set()
    languages: dict[Any, str | None] = {}
    for pre in [pre for pre in root.iter(*CODE_TAGS) if next(pre.iterancestors(*CODE_TAGS), None) is None]:
        language = language_of(pre, languages)
        table = next(pre.iterancestors("table"), None)
        if table is not None and table not in tables:
            tables.add(table)
            drop_line_numbers(table)
        if pre.getparent() is None:
            continue
        drop_line_numbers(pre)
        _drop_furniture(pre, language)
        text = "".join(_lines(pre, by_style=pre in written))
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
        tail = pre.tail
        for child in [*pre]:
            pre.remove(child)
        pre.attrib.clear()
        pre.tag, pre.text, pre.tail = "pre", _trimmed(text), tail
        if language:
            pre.set("language", language)


def _is_block_of_code(code: Any) -> bool:
    """Test for code in lines that is alone in its block, in an element that is for code within a line."""
    block = code.getparent()
    if block is None or block.tag not in BLOCK_TAGS or (code.tail or "").strip():
        return False
    # From the code outwards: so the breaks between two codes are looked at twice, however many codes there are.
    beside = chain(code.itersiblings(), code.itersiblings(preceding=True))
    if any(one.tag != "br" or (one.tail or "").strip() for one in beside):
        return False
    if (block.text or "").strip():
        return False
    return next(code.iter("br"), None) is not None or bool(_PREFORMATTED.search(code.get("style") or ""))


def _is_lines_of_code(block: Any) -> bool:
    """Test for a block of nothing but lines, each an element that is for code within a line."""
    if len(block) < 3 or block.tag not in BLOCK_TAGS or block.tag in CODE_TAGS or (block.text or "").strip():
        return False
    codes = breaks = 0
    for part in block:
        codes += part.tag in _INLINE_TAGS
        breaks += part.tag == "br"
        is_empty = not len(part) and not (part.text or "").strip()
        if (part.tail or "").strip() or not (is_empty or part.tag in _INLINE_TAGS):
            return False
    return 1 < codes <= breaks + 1 and next(block.iterancestors(*CODE_TAGS), None) is None


def _join_lines(block: Any) -> None:
    """Put what a block holds in a <pre>, without the white space between its lines."""
    pre = etree.Element("pre")
    pre.extend([*block])
    for part in pre:
        part.tail = None
    block.append(pre)


def _join_line_elements(root: Any) -> None:
    """Put lines of code that stand behind each other, each an element that a style sheet makes one, in a <pre>."""
    listings: dict[Any, bool] = {}
    left = dict.fromkeys(line for line in root.iter("div", "tr") if _is_line_element(line, listings))
    for first in [*left]:
        run: list[Any] = []
        line = first
        while line in left:
            del left[line]
            run.append(line)
            line = None if (line.tail or "").strip() else line.getnext()
        if len(run) < 2 or next(first.iterancestors(*CODE_TAGS), None) is not None:
            continue
        pre = etree.Element("pre")
        first.addprevious(pre)
        pre.tail, run[-1].tail = run[-1].tail, None
        pre.extend(run)
        for line in run:
            line.tag, line.tail = "span", "\n"


def _is_line_element(element: Any, listings: dict[Any, bool]) -> bool:
    """Test for a line of code. `listings` are elements that were looked at, as thousands of lines are in one."""
    if element.tag == "tr":
        return any("blob-code" in _classes(cell) for cell in element)
    classes = _classes(element)
    if _LINE not in classes:
        return not _LINE_CLASSES.isdisjoint(classes)
    for above in islice(element.iterancestors(), _ABOVE):
        if above not in listings:
            listings[above] = not _LISTINGS.isdisjoint(_classes(above))
        if listings[above]:
            return True
    return False


def _classes(element: Any) -> list[str]:
    classes: str = element.get("class") or ""
    return classes.lower().split()


def drop_line_numbers(code: Any) -> None:
    """Take out the elements that hold nothing but numbers of lines: 1, 2, 3 in one, or in one after the other."""
    columns: list[Any] = []
    series: dict[tuple[str, str | None], list[tuple[Any, int]]] = defaultdict(list)
    for element, number, length in _holders_of_series(code):
        if length > 1 and element.tag not in ("tr", "tbody", "table"):
            columns.append(element)
        elif length == 1 and not len(element) and _begins_line(element):
            series[element.tag, element.get("class")].append((element, number))
    _remove_with_empty(columns, code)
    words = len(" ".join(code.itertext()).split())  # a number and its line are two words, also with no space between
    for found in series.values():
        if 1 < len(found) < words and _is_series([number for _, number in found]):
            _remove_with_empty([element for element, _ in found], code)


def _begins_line(element: Any) -> bool:
    """Test for an element with nothing before it in its line, as far as the element around it goes."""
    before = element.getprevious()
    while before is not None:
        text = "\n" if before.tag in LINE_END_TAGS else "".join(before.itertext())
        text += before.tail or ""
        if text.strip() or "\n" in text:
            return _ends_line(text)
        before = before.getprevious()
    return _ends_line(element.getparent().text or "")


def _ends_line(text: str) -> bool:
    return not text.rpartition("\n")[2].strip()


def _remove_with_empty(elements: Sequence[Any], code: Any) -> None:
    """Take out elements, and those around them that hold nothing else: one that is empty would be an empty line."""
    while elements:
        around = dict.fromkeys(element.getparent() for element in elements)
        remove_elements(dict.fromkeys(elements, ""))
        elements = [above for above in around if above is not None and above is not code and _is_empty(above)]


def _is_empty(element: Any) -> bool:
    return not len(element) and (not element.text or element.text.isspace())


def _holders_of_series(code: Any) -> Iterator[tuple[Any, int, int]]:
    """Iterate over the elements in code that hold a series of numbers and nothing else, with the last and how many.

    All are found in one walk: what the innermost of a thousand elements holds is not read for each.
    """
    number = words = begin = 0  # the last word up to here, how many they are, and where the series that it ends begins
    starts: list[int] = []  # of the elements that are still open
    for event, element in etree.iterwalk(code, events=("start", "end")):
        is_end = event == "end"
        if is_end:
            start = starts.pop()
            if element is code:
                return
            if begin <= start < words:
                yield element, number, words - start
        else:
            starts.append(words)
        for word in ((element.tail if is_end else element.text) or "").split():
            before, number = number, _number(word)
            if number < 0:
                begin = words + 1
            elif number != before + 1:
                begin = words
            words += 1


def _number(word: str) -> int:
    """Read a word as the number of a line; -2, which none follows, of any other."""
    return int(word) if word.isdecimal() and len(word) < 7 else -2


def _is_series(numbers: list[int]) -> bool:
    return numbers == [*range(numbers[0], numbers[0] + len(numbers))]


def _drop_furniture(pre: Any, language: str) -> None:
    """Take out buttons, and a heading that only names the language."""
    remove_elements({button: space_of(button) for button in pre.iter("button")})
    for element in pre.iterdescendants(*BLOCK_TAGS) if language else ():
        if _short_text(element).lower() == language:
            remove_element(element, "\n")
            break


def _short_text(element: Any) -> str:
    """Read the text of an element; "" of a long one, which may be in thousands of others."""
    parts = [*islice(element.itertext(), _MOST_PARTS)]
    is_short = len(parts) < _MOST_PARTS and sum(map(len, parts)) < _MOST_CHARS
    return " ".join("".join(parts).split()) if is_short else ""


def _lines(pre: Any, *, by_style: bool) -> list[str]:
    """List the parts of a code's text; a <br> and the bounds of what is a block begin a line, with `by_style` also by
    its own style, as in the text of the page. A space parts the cells of a row."""
    parts: list[str] = []
    is_apart = False  # a cell has ended or begun since the last part
    stack: list[tuple[Any, bool]] = [(pre, False)]
    while stack:
        element, is_end = stack.pop()
        is_block = element is not pre and (element.tag in _LINE_TAGS or (by_style and is_line_of_code(element)))
        if is_block and parts and not parts[-1].endswith("\n"):
            parts.append("\n")
        is_apart |= element.tag in CELL_TAGS
        is_empty_line = element.tag == "br" or (is_block and not len(element) and not element.text)
        part = element.tail if is_end else "\n" if is_empty_line else element.text
        if part:
            if is_apart and parts and not (parts[-1][-1].isspace() or part[0].isspace()):
                parts.append(" ")
            parts.append(part)
            is_apart = False
        if not is_end:
            if element is not pre:
                stack.append((element, True))
            stack += [(child, False) for child in reversed(element)]
    return parts


def _trimmed(text: str) -> str:
    """Take the empty lines before and behind the code away, and the space behind each line."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
