"""Read and write pages as annotators have them: the HTML, and the segments that tags are given to."""

from dataclasses import dataclass

from dbce_spark.annotation.markup.submission import text_digest
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import Fields, field

TEXTS = ("url", "site", "group", "url_key", "date", "lang")
"""Further fields that a page may have, under the names that `dbce evaluate` reads."""


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment: characters from `start` up to, not including, `end` of the page's text, in the element at `xpath`."""

    xpath: str  # every step with its index
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A page to annotate. Fields that are unknown are ""."""

    page: str  # its id
    html: str
    text: str
    segments: tuple[SegmentSpan, ...]  # in page order
    url: str = ""
    site: str = ""
    group: str = ""  # pages that may share a template
    url_key: str = ""
    date: str = ""  # ISO 8601
    lang: str = ""

    @property
    def texts(self) -> list[str]:
        """Return the text of each segment."""
        return [self.text[segment.start : segment.end] for segment in self.segments]

    @property
    def text_digest(self) -> str:
        """Return the digest that a submission of this very page names."""
        return text_digest(self.texts)


def as_fields(sheet: Sheet) -> Fields:
    """Return a page as a JSON line has it; unknown fields are left out."""
    spans = [[span.xpath, span.start, span.end] for span in sheet.segments]
    described = {name: value for name in TEXTS if (value := getattr(sheet, name))}
    return {"id": sheet.page, **described, "html": sheet.html, "text": sheet.text, "segments": spans}


def from_fields(fields: Fields, place: str) -> Sheet:
    """Return the page that a JSON object holds; `place` names the line in errors.

    Raises:
        InputError: a field is missing, or of the wrong kind.
    """
    text = field(fields, "text", "a text", place)
    return Sheet(
        page=field(fields, "id", "a text", place),
        html=field(fields, "html", "a text", place),
        text=text,
        segments=_spans(fields, len(text), place),
        **{name: field(fields, name, "a text", place) for name in TEXTS if name in fields},
    )


def _spans(fields: Fields, length: int, place: str) -> tuple[SegmentSpan, ...]:
    """Return the segments, which must follow one another within the text."""
    try:
        spans = tuple(SegmentSpan(str(xpath), int(start), int(end)) for xpath, start, end in fields["segments"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{place}: segments must be a list of [xpath, start, end]") from error
    at = 0
    for span in spans:
        if not at <= span.start <= span.end <= length:
            raise InputError(f"{place}: segment {span.start} to {span.end} lies before the end of another, or no text")
        at = span.end
    return spans


_LINES = jsonl.LinesOf(as_fields, from_fields)
write, read = _LINES.write, _LINES.read
