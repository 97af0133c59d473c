"""Write what is kept of a page in the formats that a run asks for: Markdown, and HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbce_spark.config import FormatsConfig
from dbce_spark.dbce.kept import annotated_html
from dbce_spark.dbce.kept.main_text import kept_characters
from dbce_spark.files import timestamps
from dbce_spark.html.about import About, read_about
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.structure.addresses import addresses
from dbce_spark.html.structure.callouts import mark_callouts
from dbce_spark.html.structure.clean_tree import clean_tree
from dbce_spark.html.structure.code_blocks import normalise_code
from dbce_spark.html.structure.emphasis import mark_emphasis
from dbce_spark.html.structure.emptied_elements import decide_elements, strip_unread
from dbce_spark.html.structure.footnotes import mark_footnotes
from dbce_spark.html.structure.formulas import replace_formulas
from dbce_spark.html.structure.headings import mend_headings
from dbce_spark.html.structure.images import drop_ornaments, reveal_amp_images, reveal_images
from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import classes_of, cut_text
from dbce_spark.html.structure.markdown import to_html, to_markdown
from dbce_spark.html.structure.players import mark_players
from dbce_spark.html.structure.quotation_marks import write_marks
from dbce_spark.html.structure.raw_formulas import replace_raw_formulas
from dbce_spark.html.structure.sidenotes import boxed_notes, move_sidenotes
from dbce_spark.html.structure.tick_boxes import mark_boxes
from dbce_spark.html.structure.touching_words import part_words
from dbce_spark.html.structure.unknown_elements import rename_unknown
from dbce_spark.model import Blocks, Capture, Extraction, Segments

FORMATS = MARKDOWN, HTML, ABOUT = "markdown", "html", "about"
"""Columns of `extractions` beside the text, null where they are not asked for."""


@dataclass(frozen=True, slots=True)
class Formats:
    """A page in each format that was asked for: what is kept of it, and `annotated_html`, which is all of it."""

    markdown: str | None = None
    html: str | None = None
    annotated_html: str | None = None
    about: About | None = None


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page's HTML as it came, with what of its text is kept: all that its formats are written from, when they are
    wanted."""

    html: bytes
    blocks: Blocks
    segments: Segments
    capture: Capture
    config: FormatsConfig

    def write(self, *columns: str) -> Formats:
        """Write some formats: together they take little longer than one."""
        utf8_html = decode(self.html, self.capture.declared_charset).html
        wanted = replace(self.config, columns=columns)
        return write_formats(utf8_html, self.blocks, self.segments, self.capture, wanted)


def format_extractions(
    extractions: Sequence[Extraction], htmls: Sequence[bytes | None], config: FormatsConfig, with_annotated: bool
) -> list[Formats]:
    """Write some pages in the formats that are asked for; `htmls` are their pages in UTF-8, where they were kept."""
    return [
        Formats() if html is None else _format(one, html, config, with_annotated)
        for one, html in zip(extractions, htmls, strict=True)
    ]


def _format(one: Extraction, html: bytes, config: FormatsConfig, with_annotated: bool) -> Formats:
    blocks, segments = one.page.blocks, one.segments
    annotated = annotated_html.labelled_html(html, blocks.text, segments) if with_annotated else None
    return replace(write_formats(html, blocks, segments, one.page.capture, config), annotated_html=annotated)


def write_formats(
    utf8_html: bytes, blocks: Blocks, segments: Segments, capture: Capture, config: FormatsConfig
) -> Formats:
    """Write what is kept of a page, and what it says of itself. Its links are relative to its <base> or its URL.
    Without a URL, they are relative to the one that it declares; if it declares none, they stay as written.

    Raises:
        PageError: lxml finds no element in it.
    """
    kept = Formats()
    if not config.need_html:
        return kept
    root = parse_tree(utf8_html)
    about = describe(root, utf8_html, capture, config) if ABOUT in config.columns else None  # before the tree is cut
    if MARKDOWN in config.columns or HTML in config.columns:
        kept = format_kept(root, kept_characters(blocks.text, segments), capture.url, config, blocks)
    return replace(kept, about=about)


def describe(root: Any, utf8_html: bytes, capture: Capture, config: FormatsConfig) -> About:
    """Read what a page says of itself; its day of publication by htmldate, if that is chosen and it declares none.

    root: the tree of `utf8_html`, which stays as it is.
    """
    about = read_about(root, addresses(root, capture.url), capture.url, capture.timestamp)
    if config.dates != "htmldate" or about.date:
        return about
    from htmldate import find_date

    last = about.modified or timestamps.day(capture.timestamp)
    found = find_date(utf8_html.decode("utf-8", "replace"), original_date=True, url=capture.url, max_date=last) or ""
    if not found or found > last:
        return about
    return replace(about, date=found, found_in=(*sorted([*about.found_in, "date htmldate"]),))


def format_kept(root: Any, is_kept: Kept, url: str, config: FormatsConfig, blocks: Blocks) -> Formats:
    """Write the characters of a page that are kept, with the structure around them. `root`, its tree, is used up."""
    place = addresses(root, url, keeps_relative=True)
    decided = decide_elements(root, blocks, is_kept)
    rename_unknown(root)
    mark_players(root)
    reveal_amp_images(root)
    boxed = boxed_notes(root)
    mark_boxes(root)
    strip_unread(root)
    # Whenever an element is let go that was taken out, lxml looks from the first one in the tree it was taken out with
    # for one that is still in use. From the last to the first, and behind all else that uses them, that takes no time.
    in_use = [*root.iter()]
    cut_text(root, is_kept, decided)
    del decided
    part_words(root, blocks.text, is_kept)
    classes = classes_of(root)
    reveal_images(root)
    drop_ornaments(root)
    normalise_code(root, classes)
    replace_formulas(root, classes)
    replace_raw_formulas(root)
    mark_footnotes(root)
    move_sidenotes(root, boxed)
    del boxed
    mark_emphasis(root)
    write_marks(root)
    mend_headings(root, place)
    mark_callouts(root, classes)
    article = clean_tree(root, place, config)
    in_use.clear()  # the last first
    source = article.source()
    return Formats(
        html=to_html(source) if HTML in config.columns else None,
        markdown=to_markdown(article, source) if MARKDOWN in config.columns else None,
    )
