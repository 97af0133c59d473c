"""Refutation of a declared charset by the bytes of a page: by themselves, or by the charset that the detector finds."""

import re

from dbce_spark.html.charset_detector import FALLBACK, detect, sample_of
from dbce_spark.html.decoders import OLDER, decode_by

_TWO_BYTES = frozenset({"gbk", "gb18030", "big5", "shift_jis", "euc-kr", "euc-jp"})
_NO_ASCII = dict.fromkeys(range(0x80))
_BETWEEN_LETTERS = "’·–—…\xa0\xad"
"""Signs outside ASCII that stand between letters in good texts."""
_ASCII = bytes(range(0x80))
_MARKED_HIGH = bytes(0x20 if byte < 0x80 else 0x68 for byte in range(256))
"""Of each byte " " for ASCII, "h" for others."""


def _mark(byte: int) -> bytes:
    """Return "l" for a byte that is a letter in windows-1252, "s" for a sign that breaks a word, " " for others."""
    char = bytes([byte]).decode("cp1252", "replace")
    if char.isalpha():
        return b"l"
    return b" " if byte < 0x80 or char in _BETWEEN_LETTERS else b"s"


_MARKED_LETTERS = b"".join(map(_mark, range(256)))
_RUN = re.compile("[^\0-\x7f]+")
FEW = 16
"""Characters under which what is kept, replaced or broken is chance."""
_LONG_RUN, _KINDS = 3, 8
"""Words in Latin letters have no runs of three bytes outside ASCII; lines and indents have few kinds of bytes."""
_BEYOND_LATIN = "\u0370"
"""The first letter of another script."""
_UNREAD = re.compile("[\ue000-\uf8ff\ufffd]")
"""A character that was replaced, or is of private use: no text can be read that has many."""
_UNREAD_IN = 50
"""Another charset is looked for if one character outside ASCII in so many is unread."""
_BEHIND_LETTER = re.compile(rf"(?<=[^\W\d_])[^\0-\x7f{_BETWEEN_LETTERS}]")
_CLEARLY = 10
"""The times that another charset must read a page better than the declared one."""


def is_refuted(html: bytes, text: str, name: str) -> bool:
    """Test whether the bytes of a page refute the charset that it declares, by which they are this text."""
    return _is_replaced(text, name) or _is_outdone(html, text, name)


def _is_replaced(text: str, name: str) -> bool:
    """Test whether most of what is not ASCII had to be replaced; of UTF-8 most of it in two runs of three, since some
    bytes of another charset pass for it by chance."""
    if "\ufffd" not in text:
        return False
    if name == "utf-8":
        runs: list[str] = _RUN.findall(text)
        return 3 * sum(2 * run.count("\ufffd") < len(run) for run in runs) < len(runs)
    good, bad = counts(text)
    return bad >= FEW and bad > good


def _is_outdone(html: bytes, text: str, name: str) -> bool:
    """Test whether the detector finds a charset by which a page is text, while by the declared one it is hardly any."""
    if name in _TWO_BYTES:
        unread = len(_UNREAD.findall(text))
        if unread < FEW or _UNREAD_IN * unread < sum(counts(text)):
            return False
        found = detect(html)
        return found in _TWO_BYTES and _CLEARLY * len(_UNREAD.findall(decode_by(html, found))) < unread
    if name == FALLBACK:
        return _is_no_western(html)
    return name in OLDER and not _fits_words(html, name)


def _is_no_western(html: bytes) -> bool:
    """Test whether a page is in letters of another script, or of other languages in Latin script, than windows-1252."""
    sample = sample_of(html)
    in_runs, broken = _is_in_runs(sample), sample.translate(_MARKED_LETTERS).count(b"lsl")
    if not in_runs and broken < FEW:
        return False
    found = decode_by(sample, detect(html))
    return (in_runs and _is_beyond_latin(found)) or (broken >= FEW and _CLEARLY * _broken_words(found) < broken)


def _fits_words(html: bytes, name: str) -> bool:
    """Test whether a charset that browsers ignore breaks no more words than the one that is detected, or fewer than
    windows-1252, in which browsers show the page."""
    sample, found = sample_of(html), detect(html)
    broken, otherwise = (_broken_words(decode_by(sample, one)) for one in (name, found))
    return broken < otherwise or (broken == otherwise and found != FALLBACK)


def _is_in_runs(html: bytes) -> bool:
    """Test whether most bytes outside ASCII stand in runs, and are not always the same."""
    high = html.translate(None, _ASCII)
    in_runs = _LONG_RUN * html.translate(_MARKED_HIGH).count(b"h" * _LONG_RUN)
    return in_runs >= FEW and 2 * in_runs > len(high) and len(set(high)) >= _KINDS


def _is_beyond_latin(text: str) -> bool:
    """Test whether most characters outside ASCII are letters of another script than Latin."""
    outside = text.translate(_NO_ASCII)
    return 2 * sum(char >= _BEYOND_LATIN and char.isalpha() for char in outside) > len(outside)


def _broken_words(text: str) -> int:
    """Count the characters outside ASCII that stand between letters and are none, or are a capital behind a small
    letter."""
    broken = 0
    for found in _BEHIND_LETTER.finditer(text):
        char, at = found[0], found.start()
        if char.isalpha():
            broken += char.isupper() and not text[at - 1].isupper()
        else:
            broken += text[at + 1 : at + 2].isalpha()
    return broken


def counts(text: str) -> tuple[int, int]:
    """Count the characters outside ASCII that are kept, and that had to be replaced."""
    bad = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) - bad, bad
