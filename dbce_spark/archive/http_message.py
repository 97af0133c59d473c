"""Parse HTTP messages: cut head from body, and undo the body's encodings.

Headers lie, so the bytes have the last word. What is left of a damaged body is kept, and the damage is named.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from dbce_spark.archive import content_coding, mime
from dbce_spark.archive.content_coding import SNIFFED_BYTES, BodyError, BodyTooLarge, StreamEnd

MOST_CODINGS = 5
"""Encodings that are undone, one over the other. Real stacks are of two; a gzip file can hold itself for ever."""
ALWAYS_ALLOWED = 1 << 20
"""Bytes that come out whatever the ratio: small pages of white space shrink a thousandfold without harm."""

NOT_MODIFIED = 304
"""The status of an answer without a body: what was fetched before still holds."""

_PASSING = (408, 425, 429)
"""HTTP statuses under 500 that mean "not now" (RFC 9110, 6585, 8470)."""
_COMPRESS_MAGIC = b"\x1f\x9d"
_STATUS_LINE = re.compile(
    rb"(?:\xef\xbb\xbf)?[ \t\r\n]{0,256}(?:HTTPS?(?:/[^ \t\r\n]{0,8})?|ICY)[ \t]+(\d{3})(?!\d)", re.IGNORECASE
)
_HEAD_END = re.compile(rb"\r*\n[ \t]{0,8}\r*\n|\r\r(?!\r{0,2}\n)")
_HEADER = re.compile(rb"[A-Za-z][\w-]{0,60}[ \t]*:")
# A head without status line is recognised by a header that every server sends.
_COMMON_HEADER = re.compile(
    rb"(?:^|[\r\n])(?:content-(?:type|length|encoding)|date|server|last-modified|connection|transfer-encoding|"
    rb"cache-control|set-cookie|expires|etag|accept-ranges|x-powered-by|via)[ \t]*:",
    re.IGNORECASE,
)
_MOST_ANSWERS = 8
"""Answers that go before the response itself: a proxy's, and interim ones."""
_LONGEST_HEAD = 1 << 16
"""Bytes in which a head ends, whatever its lines are (servers allow 8 to 64 KiB)."""
_LONGEST_OF_HEADERS = 1 << 20
"""Bytes in which a head ends that has a header, or the rest of one, in each of its lines."""
_HEADER_LINE = re.compile(rb"(?:[!#-'*+\-.^-z|~\w]{1,256}+[ \t]*+:|[ \t]++[^\s])[^\r\n]*+\r*+\n")
_FOLDS = ("", " ", "\t")
_LISTS = ("content-encoding", "transfer-encoding")  # headers whose repetitions add up
_CHUNK_SIZE = re.compile(rb"[ \t]*0{0,16}([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CUT_SIZE = re.compile(rb"[ \t]*+[0-9a-fA-F]{0,8}+(?:[ \t]*+;[^\r\n]*+)?\r?\Z")
_STRICT_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8}) *\r\n")
_TRAILER = re.compile(rb"[!#-'*+\-.^-z|~\w]+:[^\r\n]*\r?\n")
_LENGTH = re.compile(r"\d{1,18}(?![^\s,])")
_MOST_CHUNKS = 1_000_000
"""Chunks of a body that are joined; what is behind them is kept as stored."""


def is_passing(status: int) -> bool:
    """Return whether the same request may have another answer later."""
    return status >= 500 or status in _PASSING


class Defect(StrEnum):
    """A defect of a message that could be read all the same."""

    NO_STATUS = "no_status_line"  # headers alone, or nothing before the page
    OPEN_HEAD = "head_without_end"  # the page begins, or the record ends, where headers were
    CHUNKS_LIE = "chunks_lie"  # announced and not there, or there and not announced
    CHUNKS_BROKEN = "chunks_broken"  # the sizes lead astray: what follows is kept as stored
    CODING_LIES = "coding_lies"  # a content coding announced and not there, or there and not announced
    SHORT = "body_short"  # ends before its length, its last chunk or its compressed stream does
    DAMAGED = "body_damaged"  # a compressed stream breaks: what comes before is kept
    LONG = "body_long"  # bytes behind the end of the last chunk or of the compressed stream: passed over


LOSSES = frozenset({Defect.CHUNKS_BROKEN, Defect.SHORT, Defect.DAMAGED})
"""The defects by which a page may lack some of its text, or hold what is none: such a capture is truncated."""


_NONE: frozenset[Defect] = frozenset()
_OPEN_HEAD = frozenset({Defect.OPEN_HEAD})


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response as stored.

    `status` is 0 where there is none. Header names are in lower case; of a repeated header the last counts, and of
    the two that list codings all, in their order.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    defects: frozenset[Defect] = _NONE


@dataclass(frozen=True, slots=True)
class HttpContent:
    """A body without its encodings, and what was wrong with it and its head."""

    html: bytes
    defects: frozenset[Defect]

    @property
    def truncated(self) -> bool:
        return not self.defects.isdisjoint(LOSSES)


def split(block: bytes) -> Response | None:
    """Cut an HTTP response into head and body; return None if it does not begin with a status line."""
    status = _STATUS_LINE.match(block)
    if status is None:
        return None
    response = _cut(block, status.end(), int(status[1]))
    for _ in range(_MOST_ANSWERS):
        # An interim answer (RFC 9110 15.2), or a proxy's "connection established", goes before the response itself.
        if response.status >= 200 and "content-type" in response.headers:
            break
        status = _STATUS_LINE.match(response.body[:64])
        if status is None:
            break
        response = _cut(response.body, status.end(), int(status[1]))
    return response


def parse(block: bytes) -> Response | None:
    """Parse a response with or without status line or head (status 0 then); return None if it is neither headers nor a
    page."""
    response = split(block)
    if response is not None:
        return response
    end = _HEAD_END.search(block, 0, _LONGEST_HEAD)
    if end and _is_head(block, end) and not mime.opens_as_page(block[:SNIFFED_BYTES]):
        response = _cut(block, 0, 0)
        return replace(response, defects=response.defects | {Defect.NO_STATUS})
    if mime.opens_as_page(block[: mime.HEADER_BYTES]):
        return Response(0, {}, block, frozenset({Defect.NO_STATUS}))
    return None


def _is_head(block: bytes, end: re.Match[bytes]) -> bool:
    """Return whether headers that a server sends come before the empty line, or any header before and a page behind."""
    if _COMMON_HEADER.search(block, 0, end.start() + 1):
        return True
    return bool(_HEADER.match(block)) and mime.opens_as_page(block[end.end() :][: mime.HEADER_BYTES])


def decode_body(response: Response, *, max_bytes: int, max_ratio: int) -> HttpContent:
    """Undo the transfer and content encodings of a body, announced or not.

    No step puts out more than `max_bytes`, nor more than `max_ratio` times what is stored (ALWAYS_ALLOWED apart).

    Raises:
        BodyTooLarge: more would come out.
        BodyError: an encoding that is unknown, or bytes that are not in it.
    """
    most = min(max_bytes, max(ALWAYS_ALLOWED, max_ratio * len(response.body)))
    defects = set(response.defects)
    codings = _applied_codings(response, defects)
    body = response.body
    for coding in reversed(codings):
        body = _undo(body, coding, most, defects)
    body = _strip_unannounced(body, most, defects)
    if len(body) > max_bytes:
        raise BodyTooLarge(f"{len(body)} bytes, at most {max_bytes} allowed")
    if codings in ([], ["chunked"]) and Defect.CODING_LIES not in defects and not mime.is_text(body[:SNIFFED_BYTES]):
        decoded = content_coding.undo_unnamed(body, most)
        if decoded is not None:
            body = decoded
            defects.add(Defect.CODING_LIES)
    return HttpContent(body, frozenset(defects))


def without_chunks(body: bytes) -> bytes:
    """Join the chunks of a body; return one that is not chunked as it is."""
    return _join_chunks(body, set())


def _cut(block: bytes, start: int, status: int) -> Response:
    """Cut a message whose headers begin at `start`, or on the line behind it, into head and body."""
    head_end, body_start = _head_end(block, start)
    head = block[start:head_end]
    if b"\n<" in head or b"\r<" in head:  # no header begins so: here the body does
        before = min(at for at in (head.find(b"\n<"), head.find(b"\r<")) if at >= 0)
        return Response(status, _headers(head[:before]), block[start + before + 1 :], _OPEN_HEAD)
    return Response(status, _headers(head), block[body_start:], _NONE if body_start > head_end else _OPEN_HEAD)


def _head_end(block: bytes, start: int) -> tuple[int, int]:
    """Return where the head ends and where the body starts: the same place if no empty line is between them."""
    end = block.find(b"\r\n\r\n", start, start + _LONGEST_HEAD)
    if end >= 0 and block.find(b"\n\n", start, end) < 0 and block.find(b"\r\r", start, end) < 0:
        return end, end + 4
    empty_line = _HEAD_END.search(block, start, start + _LONGEST_HEAD) or _end_of_headers(block, start)
    if empty_line:
        return empty_line.span()
    end = min(len(block), start + _LONGEST_HEAD)
    return end, end


def _end_of_headers(block: bytes, start: int) -> re.Match[bytes] | None:
    """Find the empty line behind headers, however many; None if anything else comes before it."""
    most = start + _LONGEST_OF_HEADERS
    at = block.find(b"\n", start, most) + 1
    while at and (line := _HEADER_LINE.match(block, at, most)):
        at = line.end()
    return _HEAD_END.match(block, at - 1) if at else None


def _headers(head: bytes) -> dict[str, str]:
    """Parse the lines of a head to headers by lower-case name."""
    fields: list[tuple[str, list[str]]] = [("", [])]  # parts of values: one may be folded into 100,000 lines
    for line in head.decode("utf-8", "replace").replace("\0", "").split("\n" if b"\n" in head else "\r"):
        name, colon, value = line.partition(":")
        if line[:1] in _FOLDS:
            if rest := line.strip():
                fields[-1][1].append(rest)  # folded (RFC 9112 5.2)
        else:
            fields.append((name.strip().lower() if colon else "", [value.strip()]))
    headers: dict[str, str] = {}
    for name, parts in fields:
        value = " ".join(parts).strip()
        if name in headers and name in _LISTS:
            headers[name] += f",{value}"
        elif value or name not in headers:
            headers[name] = value
    headers.pop("", None)
    return headers


def _codings(headers: dict[str, str]) -> list[str]:
    """List the codings in the order in which they were applied."""
    listed = ",".join(headers[name] for name in _LISTS if name in headers).lower()
    codings = (coding.partition(";")[0].strip(" \t\"'") for coding in listed.split(","))
    return [coding for coding in codings if coding and coding != "identity"]


def _applied_codings(response: Response, defects: set[Defect]) -> list[str]:
    """List the codings that the headers name, and "chunked" where the body is chunked without being announced."""
    codings = _codings(response.headers)
    if "chunked" not in codings:
        if _is_chunked(response.body):
            codings.append("chunked")
            defects.add(Defect.CHUNKS_LIE)
        elif not codings and _is_short(response.headers, len(response.body)):
            defects.add(Defect.SHORT)
    if len(codings) > MOST_CODINGS:
        raise BodyError(f"{len(codings)} codings, at most {MOST_CODINGS} are undone")
    return codings


def _strip_unannounced(body: bytes, most: int, defects: set[Defect]) -> bytes:
    """Undo the codings that no header names, or names in another order, but the body's first bytes show."""
    for _ in range(MOST_CODINGS):
        coding = content_coding.shown_coding(body) or ("chunked" if _is_chunked(body) else "")
        if not coding:
            return body
        defects.add(Defect.CHUNKS_LIE if coding == "chunked" else Defect.CODING_LIES)
        body = _undo(body, coding, most, defects)
    raise BodyError(f"more than {MOST_CODINGS} codings that no header names")


def _is_short(headers: dict[str, str], length: int) -> bool:
    """Return whether the stored body ends before its Content-Length.

    Asked of bodies without content coding only: crawlers undo the coding and keep the header.
    """
    declared = _LENGTH.match(headers.get("content-length", ""))
    return declared is not None and int(declared[0]) > length


_DEFECT_OF = {StreamEnd.MORE: Defect.LONG, StreamEnd.CUT: Defect.SHORT, StreamEnd.BROKEN: Defect.DAMAGED}


def _undo(body: bytes, coding: str, most: int, defects: set[Defect]) -> bytes:
    """Undo one coding of a body; return the body as it is where it is not in that coding."""
    if not body:
        return body
    if coding == "chunked":
        return _join_chunks(body, defects)
    if coding in ("compress", "x-compress") and body.startswith(_COMPRESS_MAGIC):
        raise BodyError(f"{coding}: LZW is not undone")
    if coding not in content_coding.CODINGS:
        return body  # "utf-8", "none": names that servers send for no coding at all
    stream = content_coding.undo(body, coding, most)
    if stream is None:
        return _decode_misnamed(body, coding, most, defects)
    if not stream.out and stream.end in (StreamEnd.CUT, StreamEnd.BROKEN):
        raise BodyError(f"{coding}: {stream.end} before its first byte")
    if stream.end in _DEFECT_OF:
        defects.add(_DEFECT_OF[stream.end])
    return stream.out


def _decode_misnamed(body: bytes, coding: str, most: int, defects: set[Defect]) -> bytes:
    """Decode a body that is not in the coding its header names, by trial. One that is plain, or whose first bytes show
    another coding, is returned as it is."""
    defects.add(Defect.CODING_LIES)
    if content_coding.shown_coding(body) or content_coding.is_plain(body):
        return body
    decoded = content_coding.undo_unnamed(body, most)
    if decoded is None:
        raise BodyError(f"{coding}: neither this nor a page, begins with {body[:16]!r}")
    return decoded


def _is_chunked(body: bytes) -> bool:
    """Return whether a body begins with a line of hexadecimal digits, as many bytes as it says, and another such
    line."""
    size = _STRICT_CHUNK.match(body[:12])
    if size is None:
        return False
    end = size.end() + int(size[1], 16)
    return end > size.end() and body[end : end + 2] == b"\r\n" and _STRICT_CHUNK.match(body, end + 2) is not None


def _join_chunks(body: bytes, defects: set[Defect]) -> bytes:
    """Join the chunks of a body.

    A body that is not (or no longer) chunked is returned as it is; behind a broken chunk the rest is kept as stored.
    """
    parts: list[bytes] = []
    position = 0
    while len(parts) < _MOST_CHUNKS and (size := _CHUNK_SIZE.match(body, position)):
        length, start = int(size[1], 16), size.end()
        if length == 0:
            end = _behind_trailers(body, start)
            if not parts and end < len(body):
                break  # text that begins with a line of zeros
            if body[end:].strip(b"\r\n\0 "):
                defects.add(Defect.LONG)
            return b"".join(parts)
        parts.append(body[start : start + length])
        position = start + length
        if position > len(body):
            break
        position = _behind_line_end(body, position)
    if position >= len(body) or _CUT_SIZE.match(body, position):
        defects.add(Defect.SHORT)
        return b"".join(parts)
    defects.add(Defect.CHUNKS_BROKEN if parts else Defect.CHUNKS_LIE)
    return b"".join([*parts, body[position:]])


def _behind_trailers(body: bytes, at: int) -> int:
    """Return the place behind the headers that may follow the last chunk, and behind their empty line."""
    while trailer := _TRAILER.match(body, at):
        at = trailer.end()
    return _behind_line_end(body, at)


def _behind_line_end(body: bytes, at: int) -> int:
    """Return the place behind the end of a line, if one is here."""
    return at + (2 if body.startswith(b"\r\n", at) else body.startswith(b"\n", at))
