"""Features of the words of a segment and of those around it, after Victor (Spousta, Marek and Pecina 2008)."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log1p

import numpy as np

from dbce_spark.html.tokens import tokens
from reproductions.krdwrd.segment_features import Values

NAMES = (
    "characters",  # logarithm, as are all counts
    "words",
    "word length",
    "letters",  # share of the characters, as are the next three
    "digits",
    "punctuation",
    "capitals",
    "capitalised words",  # share of the words, as is the next one
    "words without a letter",
    "longest word",
    "sentences",
    "words a sentence",
    "begins with a capital",
    "ends as a sentence",
    "ends with a colon or comma",
    "a question or an exclamation",
    "a date or a time",
    "a copyright",
    "recurs on the page",  # how often the same text is there
    "words before",  # of the segment before, and of the one behind
    "words behind",
)

_SENTENCE_END = re.compile(r"[.!?。！？…]+[\"'”’»)\]]*(?:\s|$)")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[:./-]\d{1,2}\b")
_COPYRIGHT = re.compile(r"©|\(c\)|copyright|all rights reserved", re.IGNORECASE)


def features(texts: Sequence[str]) -> Values:
    """Compute one row a segment, with the columns of NAMES."""
    words = [tokens(text) for text in texts]
    counts = [len(some) for some in words]
    occurrences = Counter(" ".join(some).lower() for some in words)
    rows = [
        [
            *_of_text(text, some),
            log1p(occurrences[" ".join(some).lower()] - 1),
            log1p(counts[at - 1]) if at else 0.0,
            log1p(counts[at + 1]) if at + 1 < len(counts) else 0.0,
        ]
        for at, (text, some) in enumerate(zip(texts, words, strict=True))
    ]
    return np.array(rows, np.float64).reshape(-1, len(NAMES))


def _of_text(text: str, words: Sequence[str]) -> list[float]:
    visible = "".join(words)
    length, count = max(1, len(visible)), max(1, len(words))
    sentences = max(1, len(_SENTENCE_END.findall(text)))
    stripped = text.strip()
    return [
        log1p(len(visible)),
        log1p(len(words)),
        len(visible) / count,
        sum(map(str.isalpha, visible)) / length,
        sum(map(str.isdigit, visible)) / length,
        sum(not character.isalnum() for character in visible) / length,
        sum(map(str.isupper, visible)) / length,
        sum(word[0].isupper() for word in words) / count,
        sum(not any(map(str.isalpha, word)) for word in words) / count,
        log1p(max(map(len, words), default=0)),
        log1p(sentences),
        log1p(len(words) / sentences),
        float(stripped[:1].isupper()),
        float(bool(_SENTENCE_END.search(stripped[-3:]))),
        float(stripped[-1:] in (":", ",", ";")),
        float("?" in text or "!" in text),
        float(bool(_DATE.search(text))),
        float(bool(_COPYRIGHT.search(text))),
    ]
