"""HTML elements by what they do to the text of a page."""

import re
from typing import Any

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html isindex legend li listing main menu nav noframes ol"
    " p plaintext pre section summary table tbody td tfoot th thead tr ul xmp".split()
)
"""Elements that begin and end a block (HTML Rendering 15.3: display other than inline)."""

DROPPED_TAGS = frozenset(
    "applet audio canvas datalist frame head iframe input noembed noscript object optgroup option script select style"
    " svg template textarea video".split()
)
"""Elements that go with all they hold: scripts, styles, what is embedded, the machinery of forms (thesis 2.2).

Text before and behind one joins, so none of them is a block.

Not <embed>, which has no content, but to libxml2 holds whatever follows it.
"""

LINE_END_TAGS = BLOCK_TAGS | {"br"}
"""Elements that end a line of text where they begin, and where they end."""

CELL_TAGS = frozenset(("td", "th"))

HEADING_TAGS = frozenset("h1 h2 h3 h4 h5 h6".split())

CODE_TAGS = ("pre", "listing", "plaintext", "xmp")
"""Blocks that show white space, and lines, as they are written."""

JOINED_TAGS = frozenset("sub sup wbr".split())
"""Elements in a line that no word begins or ends at."""

_DISPLAY_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid)", re.IGNORECASE)


def is_line_of_code(element: Any) -> bool:
    """Test for an element within <pre> that its own style makes a line of its own."""
    style = element.get("style")
    return bool(style and _DISPLAY_BLOCK.search(style))
