"""Parsing of a capture's HTML to a page: decoded, parsed once, walked once.

The result: blocks with their DOM paths, tokens, and the shape of the tree.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.config import PageConfig
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import MAX_DEPTH, PageError, measure, parse_dom
from dbce_spark.html.metadata import Declared, declared
from dbce_spark.html.page_walk import PageTree, PageWalk
from dbce_spark.model import Blocks, RejectReason


class NoText(PageError):
    """Parsed, but there is no word in it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of one walk over a page, whose HTML is here in UTF-8. `url` is what it was fetched from, "" if that is
    unknown."""

    url: str
    html: bytes
    charset: str
    charset_source: str
    declared: Declared
    flags: tuple[str, ...]
    blocks: Blocks
    token_starts: npt.NDArray[np.intp]  # of each token, in characters of the page text
    tree: PageTree


def parse(html: bytes, declared_charset: str, config: PageConfig, url: str = "") -> Parsed:
    """Parse a page from its HTML, and the URL that it was fetched from if that is known.

    Raises:
        PageError: too large for one of the limits in `config`, not parseable, or (NoText) without a word.
    """
    if len(html) > config.max_html_bytes:
        message = f"{len(html)} bytes of HTML; page.max_html_bytes is {config.max_html_bytes}"
        raise PageError(message, RejectReason.TOO_LARGE)
    decoded = decode(html, declared_charset)
    measure(decoded.html, config)
    root, is_cut = parse_dom(decoded.html)
    walk = PageWalk(root, config.max_path_chars)
    if not walk.texts:
        if is_cut:
            raise PageError(f"no word above depth {MAX_DEPTH}, where libxml2 stops", RejectReason.TOO_DEEP)
        raise NoText("no word outside scripts, styles and forms", RejectReason.NO_TEXT)
    blocks, token_starts = walk.blocks()
    flags = {
        "charset_errors": decoded.lossy,
        "deep": is_cut,
        "too_many_blocks": len(blocks) > config.max_blocks,
        "too_many_tokens": len(blocks.tokens) > config.max_tokens,
    }
    return Parsed(
        url=url,
        html=decoded.html,
        charset=decoded.charset,
        charset_source=decoded.source,
        declared=declared(root, decoded.html),
        flags=tuple(name for name, is_set in flags.items() if is_set),
        blocks=blocks,
        token_starts=token_starts,
        tree=walk.tree,
    )
