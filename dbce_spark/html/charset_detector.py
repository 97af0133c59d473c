"""Detection of a page's charset by its bytes, with Firefox's detector (chardetng)."""

import re

import chardetng_py  # type: ignore[import-untyped]

from dbce_spark.html.charset_labels import charset_of

FALLBACK = "windows-1252"
"""The charset that browsers assume of a page that declares nothing (WHATWG HTML 13.2.3.2, Western locales)."""

FIRST_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH = bytes(range(0x80, 0x100))
_DETECTED_BY = 1 << 16
"""Bytes that the detector sees, about the first outside ASCII: more does not make it better (docs/archives-text.md)."""
_LETTERS, _THIN = 8, 1000
"""No detector can decide by fewer than 8 bytes outside ASCII, or one in 1,000: these are an English page's signs."""


def detect(html: bytes) -> str:
    """Detect the charset by Firefox's detector (chardetng); FALLBACK if there are too few letters to decide."""
    sample = sample_of(html)
    if len(sample) - len(sample.translate(None, _HIGH)) < max(_LETTERS, len(sample) // _THIN):
        return FALLBACK
    detector = chardetng_py.EncodingDetector()
    detector.feed(sample, last=html.endswith(sample))
    guess = detector.guess(tld=None, allow_utf8=False)
    return "windows-874" if guess == "cp874" else charset_of(guess) or FALLBACK  # it gives Python's names


def sample_of(html: bytes) -> bytes:
    """Cut out what the detector sees: of a page of ASCII, its first bytes."""
    first = FIRST_HIGH.search(html)
    start = max(0, first.start() - 1024) if first else 0
    return html[start : start + _DETECTED_BY]
