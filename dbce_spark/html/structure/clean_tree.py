"""The clean tree of what is kept: few elements, in the places where HTML's content model has them.

Sectioning and <div> only tell where paragraphs end; <span> and <font> tell nothing. What is left are headings,
paragraphs, lists, tables, quotes, code, figures, links, images and emphasis. No inline element holds a block, no
paragraph a paragraph, and each list item and cell stands in its list and row: an HTML5 parser reads it as it stands.
"""

import re
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import bidirectional

from lxml import etree

from dbce_spark.config import FormatsConfig
from dbce_spark.html.elements import BLOCK_TAGS, CELL_TAGS, DROPPED_TAGS, HEADING_TAGS
from dbce_spark.html.layout_tables import is_layout_table
from dbce_spark.html.structure.addresses import Addresses, encoded, image_source
from dbce_spark.html.structure.clean_element import INLINE_TAGS, CleanElement
from dbce_spark.html.structure.images import is_picture, is_revealed
from dbce_spark.html.structure.layout_quotes import drop_margins
from dbce_spark.html.structure.needless_elements import drop_needless
from dbce_spark.html.structure.row_lines import join_rows
from dbce_spark.html.structure.tick_boxes import BOX

MAX_NESTING = 24
"""Of blocks in blocks, and of inline elements in each other; what is deeper is flat. Reads and renders no worse."""

MAX_SPAN = 1000
"""Columns of a cell, as in HTML's algorithm for tables; the same bound serves for rows."""

MAX_TIME_CHARS, MAX_TITLE_CHARS = 64, 256
"""Of a time as programs read it, and of what an abbreviation stands for."""

MAX_START = 99_999_999
"""Number of the first item of a list: Markdown reads nine digits, and the items behind it are counted on."""

_INLINE = {tag: tag for tag in INLINE_TAGS} | {"acronym": "abbr", "strike": "s", "tt": "code"}
_ALIKE = {"b": "strong", "strong": "b", "em": "i", "i": "em"}
"""Elements that show the same as another; one in the other shows no more."""
_FLOW = frozenset("blockquote details dl figure footnote ol table ul".split()) | HEADING_TAGS
_PARTS = {
    "li": frozenset(("ul", "ol")),
    **dict.fromkeys(("dt", "dd"), frozenset(("dl",))),
    **dict.fromkeys(("caption", "thead", "tbody", "tfoot"), frozenset(("table",))),
    "tr": frozenset(("thead", "tbody", "tfoot")),
    **dict.fromkeys(CELL_TAGS, frozenset(("tr",))),
    "summary": frozenset(("details",)),
    "figcaption": frozenset(("figure",)),
}
"""Elements that stand in certain others only."""
_NEEDS = {"ul": "li", "ol": "li", "dl": "dd", "table": "tbody", "tbody": "tr", "thead": "tr", "tfoot": "tr", "tr": "td"}
"""Elements that must be opened in these before text can stand in them."""
_ITEMS = ("li", "dt", "dd")
"""Parts that end where the next one begins: libxml2 has that in them."""
_ROW_PARTS = frozenset(("caption", "thead", "tbody", "tfoot", "tr", "td", "th"))
_TEXT_ONLY = HEADING_TAGS | {"caption", "dt", "summary", "figcaption"}
"""Blocks without blocks in them, but for headings in a summary: what would be one is only set off by a space."""
_DIRECT = _TEXT_ONLY | {"dd", "li", "td", "th"}
"""Blocks whose first text stands in no paragraph."""
_SAME = {"menu": "ul", "dir": "ul"}
_LETTERED = frozenset("aAiI")
"""Types of lists that are not numbered by digits."""
_OF_LETTERS = {"L": "ltr", "R": "rtl", "AL": "rtl"}
_LOOK_FOR_LETTER = 100
"""Elements, and characters in each."""
_DIRECTIONS = frozenset(("ltr", "rtl", "auto"))
# Controls, which terminals obey, and what XML cannot hold: no character of a word.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
_CODE_LANGUAGE = re.compile(r"[\w.+#-]{1,40}")
_NUMBER = re.compile(r"\d{1,9}")

_SEVERAL = frozenset("a code kbd q samp".split())
"""Inline elements of which two are not one, as two of emphasis are, unless they touch: two commands, two links to one
page."""


class Inline(NamedTuple):
    """An inline element: its tag and attributes, and of _SEVERAL which one it is, else 0."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    number: int


class _TextAttributes(NamedTuple):
    """Direction and language of the texts in an open block: all of them, and those that no element has as yet."""

    known: dict[str, str]
    missing: dict[str, str]


def clean_tree(root: Any, addresses: Addresses, config: FormatsConfig) -> CleanElement:
    """Build the clean tree of a page that is cut down to what is kept: an <article>.

    Links and images are written, and tables (else rows are lines), where `config` has them kept.
    """
    body = root.find("body")
    attributes = _attributes_of_text(root) | ({} if body is None else _attributes_of_text(body))
    builder = _Builder(CleanElement("article", attributes), addresses, config)
    builder.read(root)
    drop_needless(builder.article)
    drop_margins(builder.article)
    return builder.article


def without_controls(text: str) -> str:
    """Replace controls, and what XML cannot hold, by spaces."""
    return _CONTROLS.sub(" ", text)


class _Builder:
    """The one pass over the cut page. Inline elements are opened where text comes, again in each block of theirs."""

    def __init__(self, article: CleanElement, addresses: Addresses, config: FormatsConfig):
        self.article = article
        self._addresses = addresses
        self._config = config
        # Open blocks, which of them were opened for a child, and what their texts have.
        of_texts = _TextAttributes({"dir": "ltr"} | article.attributes, {})
        self._stack: list[tuple[CleanElement, bool, _TextAttributes]] = [(article, False, of_texts)]
        self._paragraph: CleanElement | None = None
        self._inlines: list[Inline] = []
        self._number = 0
        self._open: list[tuple[Inline, CleanElement]] = []
        self._space = False
        self._last_image: tuple[Any, CleanElement, Any] | None = None
        """The image that was added last, with the attributes of its link, as long as nothing else came."""
        self._tables: list[bool] = []
        self._depths: list[int] = []
        """Of each element that is being read and may open others: how many were open before."""
        self._made: set[CleanElement] = set()
        """Bodies, rows and lists that were made for parts without one; what follows such a part stands in it, too."""

    def read(self, root: Any) -> None:
        """Add all that an element of the page holds."""
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            kind = _kind_of(tag := element.tag)
            if event == "start":
                if kind is not None and kind > _WITHIN_LINES:
                    if kind == _ALONE:
                        _WHOLE[tag](self, element)
                    walker.skip_subtree()
                    continue
                if kind is not None:
                    self._enter(element, tag, kind)
                text = element.text
            else:
                if kind is not None:
                    self._leave(tag, kind)
                if element is root:
                    return
                text = element.tail
            if text:
                if text.isspace():
                    self._space = True
                else:
                    self._text(text)

    def _enter(self, element: Any, tag: str, kind: int) -> None:
        """Open an element within lines, or a block, and note how many were open before."""
        if kind == _WITHIN_LINES:
            self._depths.append(len(self._inlines))
            self._inline(element, _INLINE[tag])
            return
        self._depths.append(len(self._stack))
        self._boundary()
        is_written = kind == _BLOCK and self._block(element, _SAME.get(tag, tag))
        if not is_written and (element.get("dir") or element.get("lang")):
            self._hand_down(element)

    def _leave(self, tag: str, kind: int) -> None:
        """Close what an element within lines, or a block, has opened."""
        if kind == _WITHIN_LINES:
            del self._inlines[self._depths.pop() :]
        elif kind <= _BLOCK:
            self._boundary()
            del self._stack[self._depths.pop() :]
            if tag == "table":
                self._tables.pop()

    def _callout(self, callout: Any) -> None:
        """Mark the kind of a callout, outside of code and emphasis around it: there it would be text."""
        around, self._inlines = self._inlines, []
        self._place().add("callout", {}, callout.get("kind"))
        self._inlines = around

    def _block(self, element: Any, tag: str) -> bool:
        """Open a block, if there is one of its kind where it stands."""
        if tag == "table":
            is_layout = is_layout_table(element)
            self._tables.append(self._config.tables == "keep" and not is_layout)
            if not self._tables[-1]:
                join_rows(element, is_layout=is_layout)
                return False
        elif tag in _ROW_PARTS and not (self._tables and self._tables[-1]):
            return False
        if tag in _PARTS:
            self._make_room_for_part(element, tag)
            top = self._stack[-1][0]
            if top.tag not in _PARTS[tag] or (tag in ("caption", "summary") and top.last_child() is not None):
                return False
        else:
            around = self._stack[-1][0].tag
            is_room = around not in _TEXT_ONLY or (around == "summary" and tag in HEADING_TAGS)
            if not is_room or len(self._stack) > MAX_NESTING:
                return False
            self._make_room()
        self._push(tag, _attributes(element, tag), is_auto=False)
        return True

    def _hand_down(self, element: Any) -> None:
        """Hand direction and language of a block that is not written down to what is written in it."""
        if not (own := _attributes_of_text(element)):
            return
        if own.get("dir") == "auto":  # that of all of the text, which its parts need not agree with
            own["dir"] = _direction(element)
        above, is_auto, (known, missing) = self._stack[-1]
        own = {name: value for name, value in own.items() if known.get(name) != value}
        if own:
            self._stack.append((above, is_auto, _TextAttributes(known | own, missing | own)))

    def _make_room_for_part(self, element: Any, tag: str) -> None:
        """Close what was opened for a text before, and an item where another begins, as browsers do; open what is
        missing around a part."""
        while (top := self._stack[-1][0].tag) not in _PARTS[tag] and (self._stack[-1][1] or top == tag in _ITEMS):
            self._stack.pop()
        self._depths[-1] = min(self._depths[-1], len(self._stack))
        if tag in ("tr", "td", "th") and top == "table":
            self._make_or_go_on("tbody")
            top = "tbody"
        if tag in CELL_TAGS and top in ("thead", "tbody", "tfoot"):
            self._make_or_go_on("tr")
        elif tag == "li" and self._is_list_missing(element):
            self._make_room()
            self._make_or_go_on("ul")

    def _is_list_missing(self, item: Any) -> bool:
        """Test for an item that is in no list, where one may be. An item with paragraphs makes none: where nothing ends
        it, all that follows is in it."""
        is_room = self._stack[-1][0].tag not in _PARTS["li"] | _TEXT_ONLY and len(self._stack) <= MAX_NESTING
        return is_room and not _has_paragraphs(item)

    def _make_or_go_on(self, tag: str) -> None:
        """Open the body, row or list of a part that has none: that of the part before it, if nothing is between."""
        parts = self._stack[-1][0].parts
        if parts and isinstance(last := parts[-1], CleanElement) and last.tag == tag and last in self._made:
            self._stack.append((last, True, self._stack[-1][2]))
        else:
            self._push(tag, {}, is_auto=True)
            self._made.add(self._stack[-1][0])

    def _make_room(self) -> None:
        """Open what text needs around it: an item in a list, a cell in a table."""
        while need := _NEEDS.get((top := self._stack[-1][0]).tag):
            last = top.last_child()
            if need in ("li", "dd") and last is not None and last.tag == need:
                self._stack.append((last, True, self._stack[-1][2]))
            else:
                self._push(need, {}, is_auto=True)

    def _push(self, tag: str, attributes: dict[str, str], *, is_auto: bool) -> None:
        above, _, of_texts = self._stack[-1]
        if attributes or of_texts.missing:
            attributes = of_texts.missing | attributes
            of_texts = _TextAttributes(of_texts.known | attributes, {})  # others beside them do no harm
        self._stack.append((above.add(tag, attributes), is_auto, of_texts))

    def _boundary(self) -> None:
        """End the paragraph."""
        self._paragraph, self._open, self._space = None, [], True

    def _inline(self, element: Any, tag: str) -> None:
        if self._inlines:
            alike = (tag, _ALIKE.get(tag))
            if len(self._inlines) >= MAX_NESTING or any(one.tag in alike for one in self._inlines):
                return
        if tag in ("b", "strong") and self._stack[-1][0].tag in HEADING_TAGS:  # as all of a heading is
            return
        attributes = _attributes(element, tag)
        if tag == "a":
            address = self._addresses.link(element.get("href")) if self._config.links == "keep" else None
            if address is None:
                return
            attributes["href"] = encoded(address)
        elif tag == "bdo" and "dir" not in attributes:
            return
        self._number += tag in _SEVERAL
        self._inlines.append(Inline(tag, tuple(attributes.items()), self._number if tag in _SEVERAL else 0))
        if tag == "code" and not len(element) and element.text and element.text.isspace():
            element.text = None  # it is no space between words
            self._place().parts.append(" ")

    def _place(self) -> CleanElement:
        """Find the element that text goes into, and open what is missing."""
        self._last_image = None
        if self._paragraph is None:
            self._make_room()
            top, _, of_texts = self._stack[-1]
            if top.tag in _TEXT_ONLY or (top.tag in _DIRECT and not top.parts and not of_texts.missing):
                self._paragraph = top
            else:
                self._paragraph = top.add("p", {**of_texts.missing})
                self._space = False
        same, place = 0, self._paragraph
        if self._open:
            same = self._still_open()
            del self._open[same:]
            if same:
                place = self._open[-1][1]
        if self._space:
            if self._paragraph.parts and not _ends_in_break(self._paragraph):
                place.parts.append(" ")
            self._space = False
        for wanted in self._inlines[same:]:
            place = place.add(wanted.tag, dict(wanted.attributes))
            self._open.append((wanted, place))
        return place

    def _still_open(self) -> int:
        """Count the inline elements that are open and still wanted, from the outermost."""
        same = 0
        for (opened, _), wanted in zip(self._open, self._inlines, strict=False):
            if opened != wanted and not self._goes_on(opened, wanted):
                break
            same += 1
        return same

    def _goes_on(self, opened: Inline, wanted: Inline) -> bool:
        """Test for an inline element that shows the same as the one before, and is not another behind a space."""
        is_alike = wanted.tag in (opened.tag, _ALIKE.get(opened.tag)) and wanted.attributes == opened.attributes
        return is_alike and (opened.number == wanted.number or not self._space)

    def _text(self, text: str) -> None:
        if not (written := " ".join(text.split())).isprintable():
            text = without_controls(text)
            written = " ".join(text.split())
        if not written:
            self._space = True
            return
        if text[0].isspace():
            self._space = True
        self._place().parts.append(written)
        self._space = text[-1].isspace()

    def _line_break(self, _: Any) -> None:
        """Break a line; two with nothing between end a paragraph."""
        paragraph = self._paragraph
        if paragraph is None:
            return
        if paragraph.tag in _TEXT_ONLY:
            self._space = True
            return
        if (within := _ends_in_break(paragraph)) is not None:
            within.parts.pop()
            self._boundary()
            return
        around, self._inlines = self._inlines, self._inlines[: self._still_open()]  # none that holds only a break
        self._space = False
        self._place().add("br", {})
        self._inlines = around

    def _image(self, image: Any) -> None:
        source = image_source(image, self._addresses) if self._config.images == "keep" else None
        if source is not None and is_picture(image, source):
            alt = " ".join(without_controls(image.get("alt") or "").split())
            attributes = {"src": encoded(source), "alt": alt}
            if not self._is_shown_again(image, attributes):
                place = self._place()
                self._last_image = image, place.add("img", attributes), self._link()

    def _is_shown_again(self, image: Any, attributes: dict[str, str]) -> bool:
        """Test for the image right before this one. In another block, only one of them may be described, or one have
        stood in a <noscript>: the same sign in one block after the other may be ticks."""
        if self._last_image is None:
            return False
        last, shown, link = self._last_image
        if shown.attributes["src"] != attributes["src"] or self._link() not in (None, link):
            return False
        before, alt = shown.attributes["alt"], attributes["alt"]
        is_apart = self._paragraph is None and not (is_revealed(last) or is_revealed(image))
        if before == alt:
            return not is_apart
        shown.attributes["alt"] = before or alt
        return not (before and alt)

    def _link(self) -> tuple[tuple[str, str], ...] | None:
        return next((inline.attributes for inline in self._inlines if inline.tag == "a"), None)

    def _player(self, player: Any) -> None:
        source = self._addresses.image(player.get("src")) if self._config.images == "keep" else None
        if source is not None:
            self._boundary()
            self._place().add("player", {"src": encoded(source)})
            self._boundary()

    def _rule(self, _: Any) -> None:
        self._boundary()
        self._last_image = None
        if self._stack[-1][0].tag in ("article", "blockquote"):
            self._stack[-1][0].add("hr", {})

    def _formula(self, formula: Any) -> None:
        is_display = formula.get("display") == "block" and self._stack[-1][0].tag not in _TEXT_ONLY
        if is_display:
            self._boundary()
        self._place().add("formula", {"display": "block"} if is_display else {}, without_controls(formula.text or ""))
        if is_display:
            self._boundary()

    def _note(self, note: Any) -> None:
        """Add the mark of a footnote: where it is referred to, or where it begins."""
        self._place().add("note", {"is": note.get("is"), "number": note.get("number")}, note.get("shown"))

    def _code(self, pre: Any) -> None:
        self._boundary()
        self._last_image = None
        text, depth = without_controls(pre.text or ""), len(self._stack)
        if self._stack[-1][0].tag in _TEXT_ONLY:
            self._text(text)
            self._boundary()
            return
        self._make_room()
        block = self._stack[-1][0].add("pre", {})
        del self._stack[depth:]
        language = pre.get("language") or ""
        block.add("code", {"class": f"language-{language}"} if _CODE_LANGUAGE.fullmatch(language) else {}, text)


_WHOLE = {
    "br": _Builder._line_break,
    "callout": _Builder._callout,
    "formula": _Builder._formula,
    "hr": _Builder._rule,
    "img": _Builder._image,
    "note": _Builder._note,
    "player": _Builder._player,
    "pre": _Builder._code,
}
"""Elements of which nothing but themselves is read, each with what adds it."""
_BOUNDARY, _BLOCK, _WITHIN_LINES, _ALONE, _DROPPED = range(5)
"""Kinds of elements: up to _BLOCK, text ends before and behind them. Of a _BOUNDARY nothing else is left."""
_kind_of = {
    **dict.fromkeys(BLOCK_TAGS - {"html"}, _BOUNDARY),  # the article has the attributes of <html>
    **dict.fromkeys((*_FLOW, *_PARTS, *_SAME), _BLOCK),
    **dict.fromkeys(_INLINE, _WITHIN_LINES),
    **dict.fromkeys(_WHOLE, _ALONE),
    **dict.fromkeys(DROPPED_TAGS, _DROPPED),
}.get
_NO_LISTS = BLOCK_TAGS - {"dir", "li", "menu", "ol", "ul"}


def _has_paragraphs(item: Any) -> bool:
    """Test for blocks in an item, other than lists, and for empty lines."""
    if next(item.iterdescendants(*_NO_LISTS), None) is not None:
        return True
    breaks = (one for one in item.iter("br") if not (one.tail or "").strip())
    return any((behind := one.getnext()) is not None and behind.tag == "br" for one in breaks)


def _ends_in_break(within: CleanElement) -> CleanElement | None:
    """Find the element that a line break ends, among an element and those that end it; None where none does."""
    while within.parts and isinstance(last := within.parts[-1], CleanElement):
        if last.tag == "br":
            return within
        within = last
    return None


def _attributes(element: Any, tag: str) -> dict[str, str]:
    attributes = _attributes_of_text(element)
    if tag == "li" and (state := element.get(BOX)):
        attributes[BOX] = state
    if tag in CELL_TAGS:
        for name in ("colspan", "rowspan"):
            span = _number(element.get(name), MAX_SPAN)
            if span is not None and (span > 1 or (span == 0 and name == "rowspan")):  # 0: to the end of thead or tbody
                attributes[name] = str(span)
    elif tag == "ol":
        if (start := _number(element.get("start"), MAX_START)) not in (None, 1):
            attributes["start"] = str(start)
        if (kind := element.get("type")) in _LETTERED:
            attributes["type"] = kind
    elif tag == "li" and (given := element.get("value")) and element.getparent().tag == "ol":
        if (number := _number(given, MAX_START)) is not None:
            attributes["value"] = str(number)
    elif tag == "time" and (at := element.get("datetime")):
        attributes["datetime"] = without_controls(at)[:MAX_TIME_CHARS]
    elif tag == "abbr" and (title := element.get("title")):
        attributes["title"] = " ".join(without_controls(title)[:MAX_TITLE_CHARS].split())
    return attributes


def _attributes_of_text(element: Any) -> dict[str, str]:
    """Read the direction and the language of a text."""
    attributes = {}
    if (given := element.get("dir")) and (direction := given.strip().lower()) in _DIRECTIONS:
        attributes["dir"] = direction
    if (given := element.get("lang")) and _LANGUAGE.fullmatch(language := given.strip()):
        attributes["lang"] = language
    return attributes


def _direction(element: Any) -> str:
    """Find the direction of a text by its first letter, as HTML has it; where that is not near, it is still to be
    found."""
    for part in islice(element.iter(), _LOOK_FOR_LETTER):
        for character in (part.text or "")[:_LOOK_FOR_LETTER]:
            if direction := _OF_LETTERS.get(bidirectional(character)):
                return direction
    return "auto"


def _number(text: str | None, most: int) -> int | None:
    """Read a number without a sign."""
    return min(int(text), most) if text and _NUMBER.fullmatch(text.strip()) else None
