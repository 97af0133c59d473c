"""The clean tree as Markdown and as HTML, both written by turbohtml."""

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from string import punctuation
from typing import Any
from unicodedata import category

from dbce_spark.html.structure.clean_element import INLINE_TAGS, CleanElement
from dbce_spark.html.structure.needless_elements import without_needless_emphasis
from dbce_spark.html.structure.table_cells import square_tables
from dbce_spark.html.structure.tick_boxes import BOX, TICKED

_OTHER_BLOCK = re.compile(r" {4}|[-*+>#] |#{2,6} |\d+[.)] |\||```|~~~|\$\$|<table")
"""The beginning of a block that is no paragraph."""
_EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
_BEGINNING_SIGN = re.compile(r"^(\d{0,9})\\(?=[.)>#+-])")
"""The sign of a list, a quote or a heading that turbohtml escapes; none where emphasis begins with it."""
_OTHER_SIGNS = r"\u060c\u061b\u061f\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
"""Points, commas and the like of Arabic and of scripts without spaces, where a letter mostly follows."""
_SIGNS_BEFORE = re.compile(rf"[,;:?–—…{_OTHER_SIGNS}-]+\s*(?=[^\W_])")
_SIGNS_BEHIND = re.compile(rf"(?<=[^\W_])\s*[.,;:?'’–—…{_OTHER_SIGNS}-]+$")
"""Signs that are written outside of emphasis where a letter is beside it."""
_IN_WORD = re.compile(r"_(?<=[^\W_]_)(?=[^\W_])")
_BEGINNING_NUMBER = re.compile(r"(> ?[0-9]{1,9})\.(?=[^\s<])")
_BLANK = re.compile(r"(</(?:a|b|em|i|strong)>|[^\s>_])( ?)(_{3,})(?=\s|<br>|</(?:li|p|td)>)")
_ABOUT = re.compile(r"~(?:(?:(?<=\s~)|(?<=<br>~)|(?<=<li>~)|(?<=<p>~)|(?<=<td>~))(?=[^\W_]|\s)|(?<=\(~)(?=[^\W_]))")
_DELIMITERS = re.compile(r"(<br>[\s:-]*)\|(?=[\s|:-]*<)")
"""A line of bars and hyphens, which would make a table of the line before."""
_STANDS_FOR = {"\ufffe": "_", "\uffff": ".", "\x7f": "~", "\x80": r"\|"}
"""Signs that turbohtml would escape where they mean nothing to Markdown: in words, in blanks to be filled in, in
numbers at the beginning of a line, and before words and between spaces, where ~ ends no struck text; and one that it
does not escape. They stand as characters that no clean tree has."""
_ACTS_IN_FORMULA = re.compile(r"<(?=[A-Za-z/!?])|\](?=\()")
"""The beginning of a tag, or of the address of a link, to readers that know no formulas."""
_BOXED_ITEM = re.compile(rf'<li([^>]*) {BOX}="(\w+)"([^>]*)>(<p[^>]*>)?')
_LINE = re.compile(rf"[^<]|<(?:{'|'.join(sorted(INLINE_TAGS))})[ >]")
"""The beginning of a text that a box can stand before."""
_AFTER_NOTE = re.compile(r"^(\[\^[\w-]+\]:) +", re.MULTILINE)
_LINE_BEGIN = re.compile(r"\n(?=.)")


def to_html(source: str) -> str:
    """Write the source of a clean tree as HTML; formulas and footnotes are marked as Pandoc marks them, callouts by
    their kind as a class."""
    import turbohtml  # only here and below: 40 ms, which a page of which only text is wanted need not wait for

    if f' {BOX}="' in source:
        source = _BOXED_ITEM.sub(r"<li\1\3>\4", source)
    root: Any = turbohtml.parse(source).find("article")
    for formula in root.find_all("formula"):
        is_display = formula.attrs.get("display") == "block"
        first, last = (r"\[", r"\]") if is_display else (r"\(", r"\)")
        _become(
            formula, "span", {"class": f"math {'display' if is_display else 'inline'}"}, f"{first}{formula.text}{last}"
        )
    for note in root.find_all("note"):
        number = note.attrs["number"]
        if note.attrs["is"] == "reference":
            _become(note, "a", {"class": "footnote-ref", "href": f"#fn{number}"}, note.text)
        else:
            _become(note, "a", {"class": "footnote", "id": f"fn{number}"}, note.text)
    for footnote in root.find_all("footnote") if "<footnote" in source else ():
        footnote.unwrap()
    for player in root.find_all("player"):
        _become(player, "a", {"class": "player", "href": player.attrs["src"]}, "")
    for mark in root.find_all("callout"):
        title, quote = mark.parent, mark.closest("blockquote")
        if quote is not None:
            quote.attrs["class"] = f"callout {mark.text}"
        mark.extract()
        if not title.text and not title.find("*"):
            title.extract()
    return str(root.html)


def _become(element: Any, tag: str, attributes: dict[str, str], text: str) -> None:
    import turbohtml

    made = turbohtml.Element(tag, attributes)
    made.set_text(text)
    element.replace_with(made)


def to_markdown(article: CleanElement, source: str) -> str:
    """Write a clean tree, whose source is at hand, as Markdown; its tables get all their cells, its links and emphasis
    one line each."""
    import turbohtml

    if is_changed := "<table" in source:
        square_tables(article)
    if (is_changed or "<br" in source) and _holds_lines(article):
        for link in article.find("a"):
            _join_lines(link)
        _part_lines(article)
        is_changed = True
    if "<dd" in source:
        is_changed |= _plain_definitions(article)
    if is_changed:
        source = article.source()
    if f' {BOX}="' in source:  # a text holds no plain "
        source = _BOXED_ITEM.sub(_boxed_item, source)
    source = source.replace("<player ", "<img ").replace("</player>", "")  # a text holds no <
    source = _BEGINNING_NUMBER.sub("\\1\uffff", _IN_WORD.sub("\ufffe", source))
    if "___" in source:  # the pattern tries each character
        source = _BLANK.sub(lambda found: found[1] + found[2] + "\ufffe" * len(found[3]), source)
    source = _ABOUT.sub("\x7f", source)
    if "|" in source:
        source = _DELIMITERS.sub("\\1\x80", source)
    written = str(turbohtml.parse(source).to_markdown(_options()))
    for character, sign in _STANDS_FOR.items():
        written = written.replace(character, sign)
    return _AFTER_NOTE.sub(r"\1 ", written) if "<note" in source else written


def _boxed_item(begin: re.Match[str]) -> str:
    """Write the beginning of an item with its box, if a text follows that the box can stand before."""
    before, state, behind, paragraph = begin.groups(default="")
    checked = ' checked=""' if state == TICKED else ""
    box = f'<input type="checkbox"{checked}>' if _LINE.match(begin.string, begin.end()) else ""
    return f"<li{before}{behind}>{paragraph}{box}"


def _join_lines(link: CleanElement) -> None:
    """Put spaces in place of line breaks: turbohtml 1.15 loses characters behind a stressed link of several lines."""
    link.parts = [" " if isinstance(part, CleanElement) and part.tag == "br" else part for part in link.parts]
    for child in link.children():
        _join_lines(child)


def _holds_lines(element: CleanElement) -> bool:
    """Test for a line break in an element of running text, such as a link."""
    is_inline = element.tag in INLINE_TAGS
    return any((child.tag == "br" and is_inline) or _holds_lines(child) for child in element.children())


def _part_lines(element: CleanElement) -> None:
    """Make an element of each line of those in running text: turbohtml 1.15 loses characters behind several lines of
    what our functions write, in the next paragraph too, and makes one line of those of code."""
    parts: list[str | CleanElement] = []
    for part in element.parts:
        if isinstance(part, CleanElement):
            _part_lines(part)
            parts += _lines(part) if part.tag in INLINE_TAGS else [part]
        else:
            parts.append(part)
    element.parts = parts if len(parts) == len(element.parts) else [*without_needless_emphasis(parts)]


def _lines(element: CleanElement) -> list[CleanElement]:
    lines = [CleanElement(element.tag, element.attributes)]
    for part in element.parts:
        if isinstance(part, CleanElement) and part.tag == "br":
            lines += [part, CleanElement(element.tag, element.attributes)]
        else:
            lines[-1].parts.append(part)
    return [line for line in lines if line.tag == "br" or line.parts]


def _plain_definitions(article: CleanElement) -> bool:
    """Make blocks of the definitions before the first term of a list, as old pages set margins by them. Return if
    there was any."""
    plain = [one for found in article.find("dl") for one in takewhile(lambda part: part.tag == "dd", found.children())]
    for definition in plain:
        definition.tag = "div"
    return bool(plain)


def _formula(element: Any, _: str) -> str:
    """Write LaTeX so that it is neither tag, link nor code where formulas are read as Markdown: by spaces, which
    formulas do not show, and by the quote that LaTeX shows for the sign of code."""
    text = _ACTS_IN_FORMULA.sub(r"\g<0> ", element.text).replace("`", "‘")
    return f"$$\n{text}\n$$" if element.attrs.get("display") == "block" else f"${text}$"


def _footnote(_: Any, inner: str) -> str:
    """Indent all blocks of a footnote but the first, which has its mark: they end it otherwise."""
    text = inner.strip("\n")
    return _LINE_BEGIN.sub("\n    ", text) if text.startswith("[^") else text


def _note(element: Any, _: str) -> str:
    return f"[^{element.attrs['number']}]" + ("" if element.attrs.get("is") == "reference" else ": ")


def _callout(element: Any, _: str) -> str:
    return f"[!{element.text}]" + (" " if element.next_sibling is not None else "")


def _definition(_: Any, inner: str) -> str:
    """Write what a term means as Pandoc and PHP Markdown Extra read it, if it is one paragraph.

    Several blocks stand below the term as they are: they would have to be indented, and are code then to all readers
    that know no definitions, such as GitHub's.
    """
    text = inner.strip("\n")
    return text if "\n\n" in text or _OTHER_BLOCK.match(text) else ":   " + text.strip().replace("\n", "\n    ")


def _around(sign: str, tag: str) -> Callable[[Any, str], str]:
    """Write emphasis by signs, where turbohtml writes it by tags because letters stand next to it.

    A sign that has a letter outside and punctuation inside is a plain sign to CommonMark (its flanking rule), so there
    points, commas and dashes are put outside; else emphasis keeps its tag.
    """

    def write(element: Any, inner: str) -> str:
        text = inner.strip()
        if not text:
            return inner
        before, after = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
        text = _BEGINNING_SIGN.sub(r"\1", text)
        begins_plain = not before and not _is_of_word(text[0]) and _letter_beside(element, "previous_sibling")
        ends_plain = not after and not _is_of_word(text[-1]) and _letter_beside(element, "next_sibling")
        if begins_plain and (signs := _SIGNS_BEFORE.match(text)):
            before, text, begins_plain = signs[0], text[signs.end() :], False
        if ends_plain and (signs := _SIGNS_BEHIND.search(text)):
            after, text, ends_plain = signs[0], text[: signs.start()], False
        if begins_plain or ends_plain:
            return f"{before}<{tag}>{text}</{tag}>{after}"
        return f"{before}{sign}{text}{sign}{after}"

    return write


def _is_of_word(character: str) -> bool:
    """Test for a letter, a digit, or a mark on a letter, such as a vowel of Thai or Hindi."""
    return character.isalnum() or category(character).startswith("M")


def _letter_beside(element: Any, side: str) -> bool:
    """Test whether a letter, or what CommonMark takes for one, follows an element of emphasis or precedes it, with no
    more than signs between: all but white space and punctuation."""
    while (beside := getattr(element, side)) is None and element.parent.tag in _EMPHASIS:
        element = element.parent
    if beside is None:
        return False
    if hasattr(beside, "tag"):
        return beside.tag in _EMPHASIS
    character = beside.text[0 if side == "next_sibling" else -1]
    return not (character.isspace() or character in punctuation or category(character).startswith("P"))


@cache
def _options() -> Any:
    import turbohtml

    return turbohtml.Markdown(
        inline=turbohtml.Markdown.Inline(quote_open="", quote_close=""),  # signs that are not in the page's text
        links=turbohtml.Markdown.Links(autolink=False),  # <http://...> is a tag to JSX, and to all that strips tags
        converters={
            "footnote": _footnote,
            "formula": _formula,
            "note": _note,
            "callout": _callout,
            "input": lambda element, _: "[x] " if "checked" in element.attrs else "[ ] ",  # of an item
            "rp": lambda _, inner: inner,
            "dd": _definition,
            "sub": lambda _, inner: f"<sub>{inner}</sub>" if inner else "",
            "sup": lambda _, inner: f"<sup>{inner}</sup>" if inner else "",
            **{tag: _around(sign, tag) for tag, sign in _EMPHASIS.items()},
        },
    )
