"""The digests in a record's head: proofs of its bytes, of which crawlers have hashed several forms."""

import hashlib
from base64 import b32encode
from collections.abc import Iterable

from dbce_spark.archive import http_message as http
from dbce_spark.archive.index.index_entry import normal_digest
from dbce_spark.archive.records import Record

_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")


def differs(record: Record, body: bytes, decoded: bytes) -> bool:
    """Return whether a record's digests are of other bytes than it has: of none of its payload as stored (`body`),
    without chunks, or `decoded`, nor of its block.

    A record without a digest, or with one of an unknown kind, does not.
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
    """Return whether a digest is that of any of these contents."""
    algorithm, _, value = digest.partition(":")
    made = (hashlib.new(algorithm, content, usedforsecurity=False).digest() for content in contents)
    return any(value in (one.hex(), b32encode(one).decode().rstrip("=")) for one in made)
