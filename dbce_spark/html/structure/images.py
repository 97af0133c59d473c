"""Images, each once: not the empty one that a script fills, nor the small one that stands for it until then. Of
ornaments, such as the bullets of a list that are drawn, one is enough."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from lxml import etree

from dbce_spark.html.removal import remove_elements
from dbce_spark.html.structure.kept_text import remove, space_of

_ORNAMENT_SHOWN = 3
"""Times, at the least, that a page shows what only decorates it."""
_TEXT = "text"
_HIGHEST_CONTROL = 64
"""Pixels that a control is high at the most, where the page says how high."""
_TINY = 32
"""Pixels that such a picture is wide or high at the most which counts visits, fills a space or stands for a word."""
_SIZE = re.compile(r"\s*(\d{1,6})(?:px)?\s*$")
_STYLED_SIZE = re.compile(r"(?:^|[;\s])(?:width|height)\s*:\s*(\d{1,6})(?:\.\d+)?px", re.IGNORECASE)
_SCRIPT = re.compile(r"\s*javascript:", re.IGNORECASE)
_DRAWN = re.compile(r"\.(?:gif|png)(?:\?|$)", re.IGNORECASE)
"""In the address of an image that is drawn; photos are stored as JPEG."""
_BLANK = re.compile(
    r"(?:^|/)(?:blank|clear|none|spacer|placeholder|transparent|pixel|1x1|loading)\.\w+(?:\?|$)", re.IGNORECASE
)
_REVEALED = "revealed"
"""Attribute of images that stood in a <noscript>."""
_NO_SOURCES = frozenset(("class", "id", "style", _REVEALED))
"""Attributes that the same image may have others of, where it is shown again."""
_SIZE_IN_NAME = re.compile(r"[-_](?:large|medium|small|thumb|thumbnail|\d+x\d+)\.\w+$")


def reveal_amp_images(root: Any) -> None:
    """Put an <img> in each <amp-img>, which a script of AMP fills; before any element is judged. Width and height are
    only a proportion in most layouts."""
    for element in [*root.iter("amp-img")]:
        if next(element.iterancestors("amp-img"), None) is None:  # one in another is shown where that fails
            gone = ("width", "height") if "layout" in element.attrib else ()
            image = etree.Element("img", {name: value for name, value in element.items() if name not in gone})
            image.tail, element.text = element.text, None
            element.insert(0, image)


def reveal_images(root: Any) -> None:
    """Put the image for readers without scripts in the place of its <noscript>, or of the empty one before it. A figure
    with one such image shows no other of the same description."""
    noscripts = [*root.iter("noscript")]
    in_figure = Counter(map(_figure, noscripts))
    bare = {one: space_of(one) for one in noscripts if next(one.iter("img"), None) is None}
    remove_elements(bare)
    alone: dict[Any, Any] = {}  # of each figure with one such image, that image
    for element in noscripts:
        if element in bare or next(element.iterancestors("noscript"), None) is not None:  # an inner one goes with it
            continue
        figure, image = _figure(element), _revealed(element)
        if figure is not None and in_figure[figure] == 1:
            alone[figure] = image
    if alone:
        remove_elements({image: space_of(image) for image in root.iter("img") if _is_second(image, alone)})
    if next(root.iter("figure"), None) is not None:
        _drop_other_sizes(root)


def _drop_other_sizes(root: Any) -> None:
    """Take out all but the first of the images of a figure that have the same description, or none and one name but for
    a size: they are one image in several sizes."""
    seen: set[tuple[Any, str]] = set()
    again: dict[Any, str] = {}
    for image in root.iter("img"):
        figure, description = _figure(image), image.get("alt") or _sizeless(image.get("src") or "")
        if figure is not None and description:
            if (figure, description) in seen:
                again[image] = space_of(image)
            seen.add((figure, description))
    remove_elements(again)


def is_revealed(image: Any) -> bool:
    """Test for an image that stood in a <noscript>."""
    return _REVEALED in image.attrib


def is_picture(image: Any, source: str) -> bool:
    """Test for an image that shows something. `source` is its address, of a lazy one that which a script would load."""
    return not (_is_tiny(image) or _is_blank(image, source) or _is_control(image, source))


def _is_tiny(image: Any) -> bool:
    """Test for a picture that counts visits, fills a space or stands for a word."""
    sizes = [_SIZE.match(image.get(name) or "") for name in ("width", "height")]
    sizes += _STYLED_SIZE.finditer(image.get("style") or "")
    return any(size and int(size.group(1)) <= _TINY for size in sizes)


def _is_blank(image: Any, source: str) -> bool:
    """Test for an image that shows nothing, by the name of its file, and that nobody describes."""
    return _BLANK.search(source) is not None and not image.get("alt")


def _is_control(image: Any, source: str) -> bool:
    """Test for an image that is drawn (GIF, PNG) in a link that leads to a script: a cart, a printer, a letter.

    A photo there (JPEG) is content, which opens when it is clicked; so is the image of a figure.
    """
    if not _DRAWN.search(source):
        return False
    link, height = next(image.iterancestors("a"), None), _SIZE.match(image.get("height") or "")
    if link is None or not _SCRIPT.match(link.get("href") or ""):
        return False
    return _figure(image) is None and not (height and int(height.group(1)) > _HIGHEST_CONTROL)


def drop_ornaments(root: Any) -> None:
    """Take out all but the first of images without a description that are shown several times."""
    found = [*root.iter("img")]
    times = Counter(image.get("src") for image in found)
    images = [(image, _sources(image)) for image in found if times[image.get("src")] >= _ORNAMENT_SHOWN]
    shown = Counter(sources for image, sources in images if not image.get("alt"))
    gone: dict[Any, str] = {}
    tables: dict[Any, set[Any]] = {}
    seen = set()
    for image, sources in images:
        if sources in seen and shown[sources] >= _ORNAMENT_SHOWN and not _is_mark(image, tables):
            gone[image] = space_of(image)
        seen.add(sources)
    remove_elements(gone)


def _sources(image: Any) -> frozenset[tuple[str, str]]:
    return frozenset((name, value) for name, value in image.items() if name not in _NO_SOURCES)


def _is_mark(image: Any, tables: dict[Any, set[Any]]) -> bool:
    """Test for an image in a cell without text, in a column that shows something else too, as the ticks of a table are.

    `tables` are the cells with such marks of those that were looked at: one may hold thousands of images.
    """
    cell: Any = next(image.iterancestors("td", "th"), None)
    row: Any = None if cell is None else cell.getparent()
    rows = None if row is None else row.getparent()
    if rows is None:
        return False
    if rows not in tables:
        tables[rows] = _marked_cells(rows)
    return cell in tables[rows]


def _marked_cells(rows: Any) -> set[Any]:
    """Collect the cells without text of the columns whose cells differ, in the rows of as many cells that show
    anything."""
    columns: dict[tuple[int, int], dict[Any, str]] = defaultdict(dict)
    for row in rows:
        shown = {cell: _shown(cell) for cell in row}
        for at, cell in enumerate(shown if any(shown.values()) else ()):
            columns[len(shown), at][cell] = shown[cell]
    differing = (cells for cells in columns.values() if len({*cells.values()}) > 1)
    return {cell for cells in differing for cell, shown in cells.items() if shown != _TEXT}


def _shown(cell: Any) -> str:
    """Return the addresses of the images in a cell; of one with text a sign for that."""
    if any(map(str.strip, cell.itertext())):
        return _TEXT
    return " ".join(image.get("src") or "" for image in cell.iter("img"))


def _sizeless(source: str) -> str:
    """Take size and format off the address of an image; return "" if it names no size."""
    sizeless = _SIZE_IN_NAME.sub("", source)
    return "" if sizeless == source else sizeless


def _revealed(noscript: Any) -> Any:
    """Take a <noscript> with an image away; return that, where it stands now."""
    image, before = next(noscript.iter("img")), noscript.getprevious()
    if before is not None and before.tag == "img" and not (before.tail or "").strip():
        before.set("data-src", image.get("src") or before.get("data-src") or "")
        image = before
    else:
        image.tail = None
        image.set(_REVEALED, "")
        noscript.addprevious(image)
    remove(noscript)
    return image


def _figure(element: Any) -> Any:
    return next(element.iterancestors("figure"), None)


def _is_second(image: Any, alone: Mapping[Any, Any]) -> bool:
    """Test for an image of a figure that shows another one of the same description alone."""
    shown = alone.get(_figure(image))
    return shown is not None and shown is not image and (image.get("alt") or "") == (shown.get("alt") or "")
