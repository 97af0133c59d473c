"""The language that a text is written in, with a score. docs/metadata.md says why by this detector.

Naive Bayes over byte n-grams, with the model of py3langid; what is summed up is summed here, in double precision and a
fixed order, so that the same text has the same score on every machine.
"""

import math
import unicodedata
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dbce_spark.tokens import tokens

SCORE_STEPS = 1000
"""Scores are rounded to one of so many steps: finer differences mean nothing."""

_MACRO = {"yue": "zh", "wuu": "zh"}
"""Languages that web pages declare as the macrolanguage they belong to, and that share its script: written Chinese in
Hong Kong is no other language than in Beijing to anyone who selects pages."""


class Language(NamedTuple):
    """A language and how sure that is."""

    tag: str  # ISO 639 as in BCP 47: two letters where there are two; "zxx" for text that is no language; "" unknown
    score: float  # 0 to 1: the share of the probability, in steps of 1/1000; 0.0 if unknown


UNKNOWN = Language("", 0.0)


def detect(text: str, *, min_words: int, sample_chars: int) -> Language:
    """The language of a text, by so many characters of its start, middle and end.

    UNKNOWN for less than `min_words` words (characters, in scripts without spaces). The first call in a process loads
    the model: half a second, 80 MB.
    """
    sample = _sample(text, sample_chars)
    return _detector()(sample) if len(tokens(sample)) >= min_words else UNKNOWN


def _sample(text: str, chars: int) -> str:
    """Three stretches of a long text: a quotation, a dateline or a notice at one end does not decide."""
    if len(text) <= chars:
        return text
    size = chars // 3
    middle = (len(text) - size) // 2
    return f"{text[:size]}\n{text[middle : middle + size]}\n{text[len(text) - size :]}"


@cache
def _detector() -> "_Detector":
    return _Detector()


class _Detector:
    """The model, loaded."""

    def __init__(self) -> None:
        # Loaded by whoever asks for a language, and nobody else.
        from py3langid.langid import MODEL_DIR, MODEL_FILE
        from py3langid.modelio import load_model

        weights, priors, names, transitions, rows, features = load_model(MODEL_DIR / MODEL_FILE)
        tags = [_MACRO.get(name, name) for name in names]
        self._weights: npt.NDArray[np.float16] = np.asarray(weights)
        self._priors = np.asarray(priors, np.float64)
        self._tags = sorted(set(tags))
        self._tag_of = np.array([self._tags.index(tag) for tag in tags])
        self._automaton: tuple[Any, list[int], list[int]] = (transitions, [row << 8 for row in rows], features)

    def __call__(self, text: str) -> Language:
        from py3langid.langid import visit_counts

        # What the model was trained on: normal form C; and never capitals throughout.
        normal = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
        data = normal.encode("utf-8", "replace")
        visits = visit_counts(*self._automaton, data)
        if not visits:
            return UNKNOWN
        seen = np.fromiter(visits.keys(), np.intp, len(visits))
        counts = np.fromiter(visits.values(), np.float64, len(visits))
        # einsum, since BLAS sums in an order that depends on the machine and its threads.
        logs = np.einsum("f,fl->l", np.log1p(counts), self._weights[seen].astype(np.float64)) + self._priors
        # n-grams overlap and are no independent witnesses: their number counts as its square root.
        shares = np.exp((logs - logs.max()) / math.sqrt(len(data)))
        by_tag = np.bincount(self._tag_of, weights=shares)
        best = int(by_tag.argmax())
        return Language(self._tags[best], round(float(by_tag[best] / by_tag.sum()) * SCORE_STEPS) / SCORE_STEPS)
