"""The digests in a record's head: proofs of its bytes, of which crawlers have hashed several forms."""

import hashlib
from base64 import b32encode, b64encode
from collections.abc import Iterable

from dbce_spark.archive import http_message as http
from dbce_spark.archive.index.index_entry import normal_digest
from dbce_spark.archive.records import Record

_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")


def differs(record: Record, body: bytes, decoded: bytes) -> bool:
    """Return whether the digests in a record's head are of other bytes than it has.

    That of its block decides, unless that of its payload is of the `body` as stored. If there is only one of the
    payload, it may also be of the body without chunks, of the `decoded` one, or of the block. Without a digest of a
    known kind nothing differs.
    """
    block = record.block or b""
    of_payload = normal_digest(record.headers.get("warc-payload-digest"))
    of_block = normal_digest(record.headers.get("warc-block-digest"))
    if "warc-segment-number" in record.headers:
        of_block = ""  # of its first segment
    if _is_known(of_payload) and _is_of(of_payload, (body,)):
        return False
    if _is_known(of_block):
        return not _is_of(of_block, (block,))
    return _is_known(of_payload) and not _is_of(of_payload, (decoded, http.without_chunks(body), block))


def _is_known(digest: str) -> bool:
    return digest.partition(":")[0] in _ALGORITHMS


def _is_of(digest: str, contents: Iterable[bytes]) -> bool:
    """Return whether a digest, in hex, base32 or base64, is that of any of these contents."""
    algorithm, _, value = digest.rstrip("=").partition(":")
    for content in contents:
        made = hashlib.new(algorithm, content, usedforsecurity=False).digest()
        in_base32, in_base64 = (encode(made).decode().rstrip("=") for encode in (b32encode, b64encode))
        if value == in_base64 or value.upper() in (made.hex().upper(), in_base32):
            return True
    return False
