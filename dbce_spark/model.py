"""The nouns that travel between the stages (see docs/glossary.md).

Whatever a page has hundreds of (blocks, segments) is a set of parallel numpy columns in one frozen object.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from hashlib import blake2b
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import xxhash

ARMS = ("cur", "up", "down", "prev", "next")
"""The five places of a cross, in the order of its bits (thesis 2.3, figure 2.7)."""

SIBLING_ARMS = ("up", "down")
SNAPSHOT_ARMS = ("prev", "next")


class Label(IntEnum):
    """The label of a segment. UNDECIDED is what the thesis calls "invalid"."""

    UNDECIDED = 0
    CONTENT = 1
    BOILERPLATE = 2

    @property
    def word(self) -> str:
        return self.name.lower()


LABELS_BY_WORD = {label.word: label for label in Label}
LABEL_WORDS = tuple(LABELS_BY_WORD)
"""The words of the labels, each at its label's number."""


def arm_bit(arm: str) -> int:
    """Return the bit of an arm: 16 for `cur` down to 1 for `next`, so that "11010" reads as in the thesis."""
    return 16 >> ARMS.index(arm)


def bits_text(bits: int) -> str:
    """Write occurrence bits as the thesis does: 26 -> "11010"."""
    return format(bits, "05b")


Ints = npt.NDArray[np.int32]
Indexes = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint32]
Codes = npt.NDArray[np.uint8]
Signature = npt.NDArray[np.uint32]


def digest(*parts: str) -> str:
    """Hash something's content to its id: 32 hexadecimal digits of BLAKE2b over the parts."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def text_hash(text: str) -> int:
    """Hash a text to 64 bits."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


class Timed(Protocol):
    """A capture, or something of one."""

    @property
    def capture_id(self) -> str: ...

    @property
    def timestamp(self) -> int: ...


def by_time(one: Timed) -> tuple[int, str]:
    """Return the key that orders captures by time, then by id."""
    return one.timestamp, one.capture_id


def capture_id(url: str, timestamp: int, payload_digest: str) -> str:
    """Hash a capture to its id: of its URL, its time in microseconds since 1970, and the digest of its payload."""
    return digest(url, str(timestamp), payload_digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One fetch of one URL at one time, and its place in the archive. The body travels beside it, not in it."""

    url: str
    url_key: str  # SURT
    site: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    warc_file: str
    warc_offset: int  # bytes, in the file as stored
    warc_length: int  # bytes, in the file as stored
    record_id: str  # of an ARC record one made of its content (`warc.arc_id`)
    payload_digest: str  # "sha1:BASE32" of the stored payload, computed here
    http_status: int  # 0 where there is none
    mime: str
    declared_charset: str  # from the HTTP header, "" if none
    truncated: bool  # the record ends before its Content-Length, or is marked so
    record_type: str = "response"  # or "resource", "conversion"
    declared_digest: str = ""  # of the payload, as the record has it, where that is not `payload_digest`
    item_title: str = ""  # as the feed that led to it has it (`warc.ITEM_TITLE`), "" if none did
    item_link: str = ""  # the same for the address that the feed has

    @property
    def capture_id(self) -> str:
        return capture_id(self.url, self.timestamp, self.payload_digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisit:
    """A capture whose payload was the same as an earlier one's, and so was not stored again.

    Up to four fields identify the capture that it refers to; any of them may be missing.
    """

    url: str
    url_key: str
    site: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    warc_file: str
    warc_offset: int
    warc_length: int
    record_id: str
    http_status: int  # of this fetch; 0 where there is none
    is_unmodified: bool  # the server answered 304; else the payload was fetched, and had the same digest
    digest: str  # of the payload, as the record has it; "" if it has none
    refers_to_id: str  # WARC-Record-ID
    refers_to_key: str  # SURT key; the own one where there is no other
    refers_to_time: int | None  # microseconds since 1970-01-01 UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The times at which the captures that share one extraction were fetched: it and its revisits."""

    first: int  # microseconds since 1970-01-01 UTC
    last: int
    revisits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The text of a page, cut between block-level tags. All columns but `tokens` have one entry a block.

    `text` is the blocks joined by newlines, within a row of a table by tabs, and within a cell of it by spaces
    (`html.table_rows`); `starts` and `ends` are spans of it in characters. `tokens` holds the 64-bit hashes of all
    words of all blocks, one after the other; `words` has the number of each block.
    """

    text: str
    starts: Ints
    ends: Ints
    xpaths: list[str]  # of the innermost block-level element, every step with its index
    words: Ints
    link_words: Ints  # of these, inside <a>
    tokens: Hashes

    def __len__(self) -> int:
        return len(self.xpaths)

    def text_of(self, block: int) -> str:
        """Return the text of one block."""
        return self.text[self.starts[block] : self.ends[block]]

    def before_row_ends(self) -> npt.NDArray[np.bool_]:
        """Mark the blocks behind which their row goes on: a tab and another cell, or a space and another block of the
        same cell."""
        return np.array([self.text.startswith(("\t", " "), end) for end in self.ends.tolist()], np.bool_)

    def in_rows(self) -> npt.NDArray[np.bool_]:
        """Mark the blocks that are in a row, with another before or behind."""
        found = self.before_row_ends()
        found[1:] |= found[:-1].copy()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The elements of a page that hold different spans of its blocks, one entry each, those around before those within.

    `holders` has one entry a block: the innermost of them that it stands in.
    """

    parents: Ints  # the unit around; the outermost's own index
    firsts: Ints  # the first block within
    lasts: Ints  # the last block within, and one more
    kinds: Ints  # the first unit under the same unit whose element has the same name
    holders: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFeatures:
    """The features of a page's blocks by the page alone. Every column has one entry a block."""

    codes: Codes  # (features, blocks): its features, each as the number of the bin that the value falls into
    first_scores: npt.NDArray[np.uint16]  # (blocks,): how likely each is content, by the page alone, in 1/1024
    keys: Keys  # (KEY_ROWS, blocks): hashes of the text, of the text without its numbers, and of four names of its slot
    units: Units


KEY_ROWS = TEXT, SHAPE, CLASS, ID, PATH, ABOVE = range(6)
"""Rows of `PageFeatures.keys`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFeatures:
    """A page as evidence on other pages: what its blocks are like, without a word of its text."""

    capture_id: str
    url_key: str
    timestamp: int
    words: Ints
    link_words: Ints
    first_scores: npt.NDArray[np.uint16]
    keys: Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence of other pages on the blocks of one. An empty array: there are no such pages."""

    siblings: Codes  # (features, blocks): bins
    snapshots: Codes  # (1, blocks): how far they move each block (`dbce.classifier.evidence.shifts`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata that a page declares, as far as it can be true."""

    title: str
    declared_language: str
    published: int | None  # microseconds since 1970-01-01 UTC
    modified: int | None
    canonical_url: str | None  # absolute, http or https


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A capture that was decoded, parsed, sanitised and cut into blocks."""

    capture_id: str
    capture: Capture
    charset: str
    charset_source: str
    metadata: Metadata
    flags: tuple[str, ...]  # anything unusual, sorted
    blocks: Blocks
    signature: Signature | None  # None: kept out of the buckets, for a reason in `flags`
    bands: Hashes  # one key a band, empty without signature
    features: BlockFeatures | None  # None: labels by bit pattern only


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A capture in its buckets: ids and signature, nothing of its text."""

    capture_id: str
    site: str
    url_key: str
    timestamp: int
    signature: Signature
    bands: Hashes  # one key a band


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacent:
    """The captures of the same URL before and behind one, by id, and how similar they are to it; "" and 0: none."""

    prev: str = ""
    next: str = ""
    prev_similarity: float = 0.0
    next_similarity: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCapture:
    """A capture in the index of its site, without the contents of the page."""

    capture_id: str
    url_key: str
    timestamp: int
    member: Member | None  # None: it is in no bucket
    has_features: bool  # of its blocks: it can be in pools


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A page as far as the comparison with others of its site needs it: in buckets, in diffs, in pools."""

    member: Member | None  # None: kept out of the buckets
    features: PageFeatures | None  # None: kept out of the pools
    tokens: Hashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cross:
    """A capture with its neighbours. "" marks an empty arm. Similarities are shares of equal signature rows, 0 to 1."""

    cur: str
    up: str
    down: str
    prev: str
    next: str
    up_similarity: float
    down_similarity: float
    prev_similarity: float
    next_similarity: float

    @property
    def cross_id(self) -> str:
        return digest(*self.arms)

    @property
    def arms(self) -> tuple[str, ...]:
        return self.cur, self.up, self.down, self.prev, self.next

    @property
    def bits(self) -> int:
        """Return the bits of the arms that this cross has (figure 2.7, first tuple)."""
        return sum(arm_bit(arm) for arm, capture_id in zip(ARMS, self.arms, strict=True) if capture_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketCross:
    """A cross and the bucket that it was found in.

    `group` names the crosses that are annotated together: those of one chunk of that bucket.
    """

    cross: Cross
    bucket_id: str
    bucket_urls: int  # different URLs in the chunk
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """The occurrence bits of the tokens of a cross's `cur`, run-length encoded.

    Run i covers the tokens from `ends[i - 1]` (0 for the first) up to, not including, `ends[i]`.
    """

    cross: Cross
    ends: Ints
    bits: Bits

    def per_token(self) -> Bits:
        return np.repeat(self.bits, np.diff(self.ends, prepend=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """Maximal runs of a block's tokens with the same occurrence bits in every cross: the thesis's <dbce> elements.

    One entry a segment in every column, in page order. `starts` and `ends` are spans of the page text in characters.
    """

    blocks: Ints  # index of the block
    starts: Ints
    ends: Ints
    labels: Bits
    scores: npt.NDArray[np.float32]  # how likely it is content; by patterns, the share of the evidence that is for it
    bits: Bits  # of the first cross; 16 (`cur` alone) without a cross
    siblings: Ints  # other pages it was compared with
    siblings_with: Ints  # of these, how many hold it
    snapshots: Ints  # other captures of the page it was compared with
    snapshots_with: Ints
    conflicts: npt.NDArray[np.bool_]  # the crosses disagreed

    def __len__(self) -> int:
        return len(self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPage:
    """A page with what the comparison with others gave of it, ready to be labelled."""

    page: Page
    annotations: tuple[Annotation, ...]  # one a cross, in order of cross id
    evidence: Evidence
    template_id: str  # the bucket with most URLs that one of its crosses was found in, "" if single


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The merged result of one capture: one row of `extractions`."""

    page: Page
    status: str  # "crossed", or "single" if no sibling was found
    template_id: str  # the bucket with most URLs that one of its crosses was found in, "" if single
    crosses: tuple[Cross, ...]
    segments: Segments
    text: str  # main content, a line a block or more, a tab between cells of a row
    confidence: float | None = None  # expected F1 of `text`, 0 to 1; None if bit patterns labelled the page
    page_type: str | None = None  # such as "article"; None where `confidence` is, or if the classifier knows no types


class RejectReason(StrEnum):
    """The reason why a record was rejected."""

    FILE_UNREADABLE = "file_unreadable"  # cannot be opened or read at all
    NOT_AN_ARCHIVE = "not_an_archive"  # neither WARC nor ARC by its first bytes
    BROKEN_RECORD = "broken_record"  # bytes that are no record, or are damaged; or the file ends in this one
    NO_URL = "no_url"  # the record does not name what it is a capture of
    BAD_TIMESTAMP = "bad_timestamp"  # none that can be read, and nothing else dates the record
    BAD_HTTP = "bad_http"  # a response record with neither status line, nor headers, nor markup
    NOT_HTML = "not_html"  # declared as a page, and its bytes are none
    EMPTY_PAYLOAD = "empty_payload"  # nothing but white space
    BAD_ENCODING = "bad_encoding"  # Content-Encoding that cannot be undone
    TOO_LARGE = "too_large"  # more bytes than a record, a page, or what one stored byte inflates to, may have
    SEGMENT_MISSING = "segment_missing"  # a record in segments of which not all are in the file
    REVISIT_UNRESOLVED = "revisit_unresolved"  # none of the captures is the one that it refers to
    ORIGINAL_UNLABELLED = "original_unlabelled"  # a revisit of a page that could not be labelled
    NO_TEXT = "no_text"  # parsed, but no word in it
    TOO_MANY_TAGS = "too_many_tags"  # on one page
    TOO_MANY_ATTRIBUTES = "too_many_attributes"  # on one tag
    TOO_DEEP = "too_deep"  # all its text lies below depth 2,048
    PATHS_TOO_LONG = "paths_too_long"  # the XPaths of its blocks, together
    PARSER_FAILED = "parser_failed"  # libxml2 gave no tree
    PAGE_TIMEOUT = "page_timeout"  # computed for longer than a page may
    KILLED_WORKER = "killed_worker"  # ended its process whenever it was parsed
    INDEX_UNREADABLE = "index_unreadable"  # an index, or a block of one, cannot be opened, inflated or fetched
    NOT_AN_INDEX = "not_an_index"  # in no format that is supported, by its first bytes
    BROKEN_INDEX_LINE = "broken_index_line"  # a line that is no entry, or one that names no place
    UNSAFE_PATH = "unsafe_path"  # an index points out of the folder that its archives lie in
    FETCH_FAILED = "fetch_failed"  # the bytes of a record that an index names could not be fetched
    PAGE_FAILED = "page_failed"  # raised what no page should raise


class RejectStage(StrEnum):
    """The stage at which a record was rejected."""

    SELECT = "select"
    READ = "read"
    PAGE = "page"
    LABEL = "label"


class Placed(Protocol):
    """Anything with the place and the names of a record, such as a capture."""

    @property
    def warc_file(self) -> str: ...
    @property
    def warc_offset(self) -> int: ...
    @property
    def record_id(self) -> str: ...
    @property
    def url(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """One record that went no further, or a file, or a place in it without a record: these have no names of a record.

    `warc_offset` is in bytes of the file as stored, -1 where unknown. `lost_bytes` are those, as stored, that could not
    be read as a record; they are no column of the table.
    """

    warc_file: str
    warc_offset: int = -1
    record_id: str = ""
    url: str = ""
    stage: RejectStage
    reason: RejectReason
    detail: str
    lost_bytes: int = 0

    @classmethod
    def of_record(cls, record: Placed, stage: RejectStage, reason: RejectReason, detail: str) -> Self:
        """Make the reject of a record that was read."""
        return cls(
            warc_file=record.warc_file,
            warc_offset=record.warc_offset,
            record_id=record.record_id,
            url=record.url,
            stage=stage,
            reason=reason,
            detail=detail,
        )


@dataclass(frozen=True, slots=True)
class Skip:
    """One record that a filter passed over. `filter` is the key it is counted under in run.json."""

    filter: str
