"""Blocks that may be footnotes: a paragraph, an item or the like that begins where a link leads to."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.layout_tables import is_layout_table
from dbce_spark.html.removal import holds_more

_MOST_WORDS = 600
"""Of a note."""
_MOST_ELEMENTS = 5_000
"""In a note, of which hundreds may lead back."""
LOOK_BACK = 50
"""Elements before one that are looked at for a text."""
NOTE_TAGS = frozenset(("li", "p", "div", "dd", "td", "aside", "section", "dt"))


@dataclass(slots=True)
class NoteBlocks:
    """The blocks that are notes. All that is looked at is known from there on: a page may have thousands of targets at
    the start of one block, and as many notes in one table."""

    note_of: dict[Any, Any] = field(default_factory=dict)
    is_data: dict[Any, bool] = field(default_factory=dict)

    def begun_by(self, target: Any) -> Any:
        """Find the block that a target begins; None if it is no note."""
        on_way, at, note = [], target, None
        while at not in self.note_of:
            on_way.append(at)
            if at.tag in NOTE_TAGS:
                note = at if self._is_note(at) else None
                break
            above = at.getparent()
            if above is None or above.tag == "body" or text_before(at):
                break
            at = above
        else:
            note = self.note_of[at]
        self.note_of.update(dict.fromkeys(on_way, note))
        return note

    def _is_note(self, block: Any) -> bool:
        if self.is_no_note(block) or next(block.iterdescendants(*HEADING_TAGS), None) is not None:
            return False
        return 1 < len("".join(block.itertext()).split()) <= _MOST_WORDS

    def is_no_note(self, block: Any) -> bool:
        """Test for a part of a table of data, as no row of Markdown can begin a note, or a block of too many parts."""
        table = next(block.iterancestors("table"), None)
        if table is not None and table not in self.is_data:
            self.is_data[table] = not is_layout_table(table)
        return (table is not None and self.is_data[table]) or holds_more(block, _MOST_ELEMENTS)


def text_before(element: Any) -> bool:
    for one in islice(element.itersiblings(preceding=True), LOOK_BACK):
        if "".join(one.itertext()).strip() or (one.tail or "").strip():
            return True
    parent = element.getparent()
    return bool(parent.text and not parent.text.isspace())
