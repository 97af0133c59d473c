"""Quotes that only set the margins of a page, as those of before style sheets do."""

from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.structure.clean_element import CleanElement

_SHARE = 0.9
"""Of the characters of a page, in quotes: whoever quotes has words of his own."""
_LEAST_BLOCKS = 10
"""In all of these quotes: a page may be one quotation."""


def drop_margins(article: CleanElement) -> None:
    """Put what quotes hold in their place, where nearly all of a text stands in them, and no heading does before or
    behind them, which may introduce one."""
    while quotes := _margins(article):
        parts: list[str | CleanElement] = []
        for part in article.parts:
            if isinstance(part, CleanElement) and part in quotes:
                parts += [block.with_text_attributes(part) for block in part.children()]
            else:
                parts.append(part)
        article.parts = parts


def _margins(article: CleanElement) -> set[CleanElement]:
    """Find the quotes of a page that are its margins."""
    quotes = {part for part in article.children() if part.tag == "blockquote" and not _is_callout(part)}
    if not quotes or sum(map(_blocks, quotes)) < _LEAST_BLOCKS:
        return set()
    beside = [part for part in article.children() if part not in quotes]
    if any(part.tag in HEADING_TAGS or part.has_heading() for part in beside):
        return set()
    return quotes if sum(map(_characters, quotes)) >= _SHARE * _characters(article) else set()


def _is_callout(quote: CleanElement) -> bool:
    return next(quote.find("callout"), None) is not None


def _blocks(quote: CleanElement) -> int:
    """Count the blocks in a quote, those of quotes in it too."""
    return sum(_blocks(part) if part.tag == "blockquote" else 1 for part in quote.children())


def _characters(element: CleanElement) -> int:
    return sum(len(part) if isinstance(part, str) else _characters(part) for part in element.parts)
