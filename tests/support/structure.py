"""A page in its formats, all of it kept or only some words."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from dbce_spark.config import FormatsConfig, default
from dbce_spark.dbce.kept.kept_formats import Formats, format_kept
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.page import parse
from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import text_nodes

ALL = replace(default().formats, columns=("text", "markdown", "html"))


def formats_of(
    html: str, *, without: Collection[str] = (), url: str = "http://a.example/b/c", config: FormatsConfig = ALL
) -> Formats:
    """Write a page of which all is kept but some words."""
    utf8_html = decode(html.encode(), "utf-8").html
    blocks = parse(utf8_html, "utf-8", default().page).blocks
    return format_kept(parse_tree(utf8_html), kept_words(utf8_html, without), url, config, blocks)


def markdown_of(html: str, **given: object) -> str:
    """Write a page as Markdown."""
    return formats_of(html, **given).markdown or ""  # type: ignore[arg-type]


def html_of(html: str, **given: object) -> str:
    """Write a page as HTML, without the <article> around it."""
    written = formats_of(html, **given).html or ""  # type: ignore[arg-type]
    return written.removeprefix("<article>").removesuffix("</article>")


def kept_words(utf8_html: bytes, without: Collection[str]) -> Kept:
    """Tell of each character that is no white space whether its word is kept."""
    words = [word for _, _, text in text_nodes(parse_tree(utf8_html)) for word in text.split()]
    return np.array([word not in without for word in words for _ in word], np.bool_)
