"""Pages with their main content, as the functions of `import dbce_spark` return them: objects that need no files."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from dbce_spark.config import DbceConfig, LanguageConfig
from dbce_spark.dbce.extraction.extract_options import chosen_formats
from dbce_spark.dbce.extraction.page_input import GivenPage
from dbce_spark.dbce.kept.kept_formats import ABOUT, FORMATS, HTML, MARKDOWN, Formats, KeptPage
from dbce_spark.html.about import NOTHING, About
from dbce_spark.html.tokens import tokens
from dbce_spark.model import LABEL_WORDS, Blocks, Capture, Extraction, Reject, Segments


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedBlock:
    """A block of a page, in the order of the page: text between two block-level tags.

    Attributes:
        text: all of it.
        label: "content" or "boilerplate".
        score: how likely it is content, 0 to 1.
        siblings: how many pages of the same template it was compared with.
        siblings_with: how many of these contain the part of the block that fewest of them contain.
        snapshots: how many other captures of the same URL it was compared with.
        snapshots_with: how many of these contain the part of the block that fewest of them contain.
    """

    text: str
    label: str
    score: float
    siblings: int
    siblings_with: int
    snapshots: int
    snapshots_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """The record of an archive that a page was read from, by the columns of `extractions` (docs/tables.md).

    Attributes:
        capture_id: the key of its row there, if the same file is extracted; "" for a record that is no page.
        warc_file: the file.
        warc_offset: bytes from its start, as stored; -1 where that is not known.
        record_id: its WARC-Record-ID, with the brackets; "" if there is none.
        http_status: the status of the answer, such as 200; 0 if there is none, and for a record that is no page.
    """

    capture_id: str
    warc_file: str
    warc_offset: int
    record_id: str
    http_status: int


@dataclass(frozen=True, repr=False, kw_only=True)
class ExtractedPage:
    """A page with its main content. `to_dict` gives it as plain values, without `page_text` and `blocks`.

    Attributes:
        url: as it was given, or as the archive has it; None without one.
        date: when it was fetched, in UTC; None if that is not known.
        title: the title that the page declares, "" if it declares none.
        text: the main content, one line per block, with tabs between the cells of a row; "" if nothing is kept.
        markdown: the main content as Markdown: headings, lists, tables, code, links, images. Made at the first access.
        html: the main content as clean HTML, an <article>. Made at the first access.
        about: the page's own words about itself: author, date, description, and so on. Read at the first access.
        language: of the text, as a BCP 47 tag; "zxx" if it is in no language, "" if unknown. The first access loads
            the detector, which takes half a second.
        page_text: all text of the page, in lines like those of `text`.
        blocks: the blocks of `page_text` in order, each with its label. Gathered at the first access.
        confidence: how sure the labels are: the F1 that `text` is expected to reach, 0 to 1; None with an error.
        page_type: the kind of page, such as "article" or "listing"; None with an error.
        flags: what is wrong with it, such as "truncated": its record is cut (docs/tables.md); often none.
        record: the record of the archive that it was read from; None for a page given as HTML.
        error: "", or one line that says why the input is no page, the reason in front (docs/tables.md); then it has no
            text and no blocks. `extract` raises an error with this line instead.
    """

    url: str | None
    date: datetime | None
    title: str
    text: str
    page_text: str
    confidence: float | None = None
    page_type: str | None = None
    flags: tuple[str, ...] = ()
    record: PageRecord | None = None
    error: str = ""
    _kept: KeptPage | None = field(default=None, compare=False)
    _language: LanguageConfig | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        date = self.date and self.date.isoformat()
        of_input = f"<ExtractedPage url={_start(self.url)} date={date!r}"
        if self.error:
            file = f" warc_file={self.record.warc_file!r}" if self.record else ""
            return f"{of_input} error={_start(self.error, 200)}{file}>"
        confidence = self.confidence if self.confidence is None else f"{self.confidence:.2f}"
        return (
            f"{of_input} title={_start(self.title)} text={_start(self.text)} ({len(tokens(self.text))} words)"
            f" blocks={len(self.blocks)} confidence={confidence} page_type={self.page_type!r}>"
        )

    def to_dict(self, formats: Sequence[str] = FORMATS) -> dict[str, Any]:
        """Return the page as plain values for JSON, as `dbce text --format json` prints it.

        The keys are `url`, `date` (ISO 8601), `title`, `language`, `confidence`, `page_type`, `flags`, `text`, those
        of "markdown", "html" and "about" that `formats` names ("text" too, which is always there), `record` and
        `error`.

        Raises:
            InputError: there is no such format.
        """
        chosen = chosen_formats(formats)
        self._write_together(chosen)
        plain = {name: getattr(self, name) for name in ("title", "language", "confidence", "page_type")}
        kept = {name: getattr(self, name) for name in chosen}
        if ABOUT in kept:
            about = asdict(self.about)
            kept[ABOUT] = {name: [*value] if isinstance(value, tuple) else value for name, value in about.items()}
        place = {"url": self.url, "date": self.date and self.date.isoformat()}
        found = {"flags": [*self.flags], "text": self.text, **kept}
        return {**place, **plain, **found, "record": self.record and asdict(self.record), "error": self.error}

    @cached_property
    def blocks(self) -> tuple[ExtractedBlock, ...]:
        """The blocks of all text of the page."""
        return () if self._kept is None else _blocks(self._kept.blocks, self._kept.segments)

    @cached_property
    def markdown(self) -> str:
        """The main content as Markdown."""
        return self._write(MARKDOWN).markdown or ""

    @cached_property
    def html(self) -> str:
        """The main content as clean HTML."""
        return self._write(HTML).html or ""

    @cached_property
    def about(self) -> About:
        """The page's own words about itself."""
        return self._write(ABOUT).about or NOTHING

    @cached_property
    def language(self) -> str:
        """The language of the text."""
        if self._language is None:
            return ""
        from dbce_spark.html.language import detect_languages

        (found,) = detect_languages([self.text], self._language)
        return found.tag

    def _write(self, column: str) -> Formats:
        return Formats() if self._kept is None else self._kept.write(column)

    def _write_together(self, columns: Sequence[str]) -> None:
        """Write those formats of some that are not written yet at once, as the page is parsed and cut for each call."""
        missing = [column for column in columns if column not in vars(self)]
        if len(missing) > 1 and self._kept is not None:
            written = self._kept.write(*missing)
            vars(self).update({column: getattr(written, column) for column in missing})


def _start(text: str | None, longest: int = 60) -> str:
    """Write how a text begins, as Python does."""
    return repr(text if text is None or len(text) <= longest else f"{text[:longest]}…")


def error_in_file(page: ExtractedPage) -> str:
    """Write the error of a page behind the archive that it was read from, if it is from one."""
    return f"{page.record.warc_file}: {page.error}" if page.record else page.error


def without_text(url: str | None, date: datetime | None, reject: Reject) -> ExtractedPage:
    """Make the result of an input that is no page."""
    error = ": ".join(filter(None, (reject.reason, " ".join(reject.detail.split()))))
    record = _record(reject)
    return ExtractedPage(url=url, date=date, title="", text="", page_text="", record=record, error=error)


def with_text(one: GivenPage, extraction: Extraction, settings: DbceConfig) -> ExtractedPage:
    """Make the result of a page that was labelled."""
    return ExtractedPage(
        url=one.url,
        date=one.date,
        title=extraction.page.metadata.title,
        text=extraction.text,
        page_text=extraction.page.blocks.text,
        confidence=extraction.confidence,
        page_type=extraction.page_type,
        flags=extraction.page.flags,
        record=_record(extraction.page.capture),
        _kept=KeptPage(
            one.html, extraction.page.blocks, extraction.segments, extraction.page.capture, settings.formats
        ),
        _language=settings.language,
    )


def _record(of: Capture | Reject) -> PageRecord | None:
    """Return the record of an archive that a page was read from; None for a page that was handed over."""
    if not of.warc_file:
        return None
    capture_id, http_status = ("", 0) if isinstance(of, Reject) else (of.capture_id, of.http_status)
    return PageRecord(
        capture_id=capture_id,
        warc_file=of.warc_file,
        warc_offset=of.warc_offset,
        record_id=of.record_id,
        http_status=http_status,
    )


def _blocks(blocks: Blocks, segments: Segments) -> tuple[ExtractedBlock, ...]:
    """Gather the segments of each block. Label and score are the block's, and so the same in all of them."""
    firsts = np.flatnonzero(np.diff(segments.blocks, prepend=-1))
    scores = segments.scores.astype(np.float64).round(4)
    of_all = (segments.siblings_with, segments.snapshots_with)
    columns = (
        *(column[segments.blocks[firsts]] for column in (blocks.starts, blocks.ends)),
        *(column[firsts] for column in (segments.labels, scores, segments.siblings, segments.snapshots)),
        *(np.minimum.reduceat(column, firsts) for column in of_all),
    )
    return tuple(
        ExtractedBlock(
            text=blocks.text[start:end],
            label=LABEL_WORDS[label],
            score=score,
            siblings=siblings,
            siblings_with=siblings_with,
            snapshots=snapshots,
            snapshots_with=snapshots_with,
        )
        for start, end, label, score, siblings, snapshots, siblings_with, snapshots_with in zip(
            *(column.tolist() for column in columns), strict=True
        )
    )
