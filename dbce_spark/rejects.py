"""Records that went no further, and records that a filter passed over: values, never exceptions."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a record was rejected."""

    FILE_UNREADABLE = "file_unreadable"  # cannot be opened or read at all
    NOT_AN_ARCHIVE = "not_an_archive"  # neither WARC nor ARC by its first bytes
    BROKEN_RECORD = "broken_record"  # the bytes here could not be cut into records
    NO_URL = "no_url"  # the record does not say of what it is a capture
    BAD_TIMESTAMP = "bad_timestamp"  # none that can be read, and nothing else dates the record
    BAD_HTTP = "bad_http"  # a response record with neither status line, nor headers, nor markup
    NOT_HTML = "not_html"  # says that it is a page, and its bytes say that it is none
    EMPTY_PAYLOAD = "empty_payload"  # nothing but white space
    BAD_ENCODING = "bad_encoding"  # Content-Encoding that cannot be undone
    TOO_LARGE = "too_large"  # more bytes than a record, a page, or what one stored byte inflates to, may have
    SEGMENT_MISSING = "segment_missing"  # a record in segments of which not all are in the file
    REVISIT_UNRESOLVED = "revisit_unresolved"  # none of the captures is the one that it refers to
    NO_TEXT = "no_text"  # parsed, but no word in it
    TOO_MANY_TAGS = "too_many_tags"  # on one page
    TOO_MANY_ATTRIBUTES = "too_many_attributes"  # on one tag
    TOO_DEEP = "too_deep"  # all its text lies below depth 2,048
    PATHS_TOO_LONG = "paths_too_long"  # the XPaths of its blocks, together
    PARSER_FAILED = "parser_failed"  # libxml2 gave no tree
    PAGE_TIMEOUT = "page_timeout"  # computed for longer than a page may
    KILLED_WORKER = "killed_worker"  # ended its process whenever it was parsed
    INDEX_UNREADABLE = "index_unreadable"  # an index, or a block of one, cannot be opened, inflated or fetched
    NOT_AN_INDEX = "not_an_index"  # none of the known formats by its first bytes
    BROKEN_INDEX_LINE = "broken_index_line"  # a line that is no entry, or one that names no place
    UNSAFE_PATH = "unsafe_path"  # an index points out of the folder that its archives lie in
    FETCH_FAILED = "fetch_failed"  # the bytes of a record that an index names could not be had


class Stage(StrEnum):
    """Where it was rejected."""

    SELECT = "select"
    READ = "read"
    PAGE = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """One record that went no further. `warc_offset` is in bytes of the file as stored, -1 where unknown.

    `lost_bytes` are those, as stored, that could not be read as a record; it is no column of the table.
    """

    warc_file: str
    warc_offset: int
    record_id: str
    url: str
    stage: Stage
    reason: Reason
    detail: str
    lost_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Skip:
    """One record that a filter passed over. `filter` is the key it is counted under in run.json."""

    filter: str
