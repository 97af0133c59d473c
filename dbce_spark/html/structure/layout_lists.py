"""Lists that only lay out a page: of lists alone, or of one item that has headings in it, as an article has."""

from collections.abc import Iterator
from itertools import groupby, takewhile

from dbce_spark.html.structure.clean_element import INLINE_TAGS, CleanElement

LISTS = frozenset(("ul", "ol"))
_IN_LINES = INLINE_TAGS | {"br", "callout", "formula", "img", "note", "player"}


def spread(found: CleanElement) -> list[CleanElement]:
    """List what stands in the place of a list: itself, or what it holds if it only lays out.

    Lists before the first item with something of its own stand before the list. Behind it, an item of lists alone is
    part of the item before, if items have no numbers.
    """
    items = found.children() if found.tag == "ol" else [*_joined(found.children())]
    if len(items) == 1 and items[0].has_heading():
        return [block.with_text_attributes(found, items[0]) for block in _blocks(items[0])]
    leading = [*takewhile(_holds_lists, items)]
    if not leading or (found.tag == "ol" and len(leading) < len(items)):
        found.parts = [*items]
        return [found]
    inner = [each.with_text_attributes(found, item) for item in leading for each in item.children()]
    found.parts = [*items[len(leading) :]]
    return [*inner, found] if found.parts else inner


def _joined(items: list[CleanElement]) -> Iterator[CleanElement]:
    """Iterate over items; one of lists alone behind one with something of its own becomes part of that."""
    last = None
    for item in items:
        if not _holds_lists(item):
            last = item
        elif last is not None:
            last.parts += [each.with_text_attributes(item) for each in item.children()]
            continue
        yield item


def _holds_lists(item: CleanElement) -> bool:
    return all(isinstance(part, CleanElement) and part.tag in LISTS for part in item.parts)


def _blocks(item: CleanElement) -> Iterator[CleanElement]:
    """Iterate over the blocks of an item, whose first text stands in no paragraph."""
    for is_in_line, parts in groupby(item.parts, lambda part: isinstance(part, str) or part.tag in _IN_LINES):
        if is_in_line:
            yield CleanElement("p", {}, [*parts])
        else:
            yield from (part for part in parts if isinstance(part, CleanElement))
