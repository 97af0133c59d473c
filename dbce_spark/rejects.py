"""Records that went no further, and records that a filter passed over: values, never exceptions."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a record was rejected."""

    FILE_UNREADABLE = "file_unreadable"  # cannot be opened or read at all
    NOT_AN_ARCHIVE = "not_an_archive"  # neither WARC nor ARC by its first bytes
    BROKEN_RECORD = "broken_record"  # the bytes here could not be cut into records
    NO_URL = "no_url"
    BAD_TIMESTAMP = "bad_timestamp"
    BAD_HTTP = "bad_http"  # a response record without an HTTP status line
    EMPTY_PAYLOAD = "empty_payload"
    BAD_ENCODING = "bad_encoding"  # Content-Encoding that cannot be undone
    TOO_LARGE = "too_large"
    NO_TEXT = "no_text"  # parsed, but no word in it
    PARSER_FAILED = "parser_failed"


class Stage(StrEnum):
    """Where it was rejected."""

    READ = "read"
    PAGE = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """One record that went no further. `warc_offset` is in bytes of the file as stored, -1 where unknown."""

    warc_file: str
    warc_offset: int
    record_id: str
    url: str
    stage: Stage
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Skip:
    """One record that a filter passed over. `filter` is the key it is counted under in run.json."""

    filter: str
