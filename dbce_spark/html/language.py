"""The language that a text is written in, with a score. docs/metadata.md has the reasons for this detector.

Naive Bayes over byte n-grams, with the model of py3langid; what is summed up is summed here, in double precision and a
fixed order, so that the same text has the same score on every machine.
"""

import math
import unicodedata
from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dbce_spark.config import LanguageConfig
from dbce_spark.html.tokens import tokens
from dbce_spark.model import Numbers

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


def detect_languages(texts: Sequence[str], config: LanguageConfig) -> list[Language]:
    """Detect the language of each main text; UNKNOWN unless `language.detect` is set."""
    if not config.detect:
        return [UNKNOWN] * len(texts)
    return detect(texts, min_words=config.min_words, sample_chars=config.sample_chars)


def detect(texts: Sequence[str], *, min_words: int, sample_chars: int) -> list[Language]:
    """Detect the languages of some texts, each by `sample_chars` characters of its start, middle and end.

    The language of a text does not depend on those beside it. UNKNOWN for less than `min_words` words (characters, in
    scripts without spaces). The first call in a process loads the model: half a second, 79 MB.
    """
    samples = [_sample(text, sample_chars) for text in texts]
    long_enough = [at for at, sample in enumerate(samples) if len(tokens(sample)) >= min_words]
    found = [UNKNOWN] * len(texts)
    if long_enough:
        for at, language in zip(long_enough, _detector()([samples[at] for at in long_enough]), strict=True):
            found[at] = language
    return found


def _sample(text: str, chars: int) -> str:
    """Cut three stretches out of a long text: a quotation, a dateline or a notice at one end does not decide."""
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
        # Loaded only where a language is detected.
        from py3langid.langid import MODEL_DIR, MODEL_FILE
        from py3langid.modelio import load_model

        weights, priors, names, transitions, rows, features = load_model(MODEL_DIR / MODEL_FILE)
        tags = [_MACRO.get(name, name) for name in names]
        # Of half precision in the file; numpy widens those ten times as slowly as single precision.
        self._weights = np.asarray(weights, np.float32)
        self._priors = np.asarray(priors, np.float64)
        self._tags = sorted(set(tags))
        self._tag_of = np.array([self._tags.index(tag) for tag in tags])
        self._transitions = np.asarray(transitions)
        self._rows = np.asarray(rows, np.int64) << 8
        self._features = np.asarray(features, np.int64)

    def __call__(self, texts: Sequence[str]) -> list[Language]:
        # What the model was trained on: normal form C; and never capitals throughout.
        normal = [unicodedata.normalize("NFC", text.lower() if text.isupper() else text) for text in texts]
        data = [text.encode("utf-8", "replace") for text in normal]
        return [
            self._language(features, counts, len(bytes_))
            for (features, counts), bytes_ in zip(self._counted(data), data, strict=True)
        ]

    def _counted(self, data: Sequence[bytes]) -> list[tuple[Numbers, Numbers]]:
        """Count the features that the automaton finds in each text, in their order."""
        longest_first = sorted(range(len(data)), key=lambda at: -len(data[at]))
        lengths = np.array([len(data[at]) for at in longest_first])
        letters = np.zeros((len(data), lengths[0]), np.uint8)
        for row, at in enumerate(longest_first):
            letters[row, : lengths[row]] = np.frombuffer(data[at], np.uint8)
        ends_at = self._feature_ends(letters, lengths)
        text, _ = (ends_at >= 0).nonzero()
        _, where, counts = np.unique(
            text * len(self._weights) + ends_at[ends_at >= 0], return_index=True, return_counts=True
        )
        features, ends = ends_at[ends_at >= 0][where], np.cumsum(np.bincount(text[where], minlength=len(data)))[:-1]
        by_row = zip(np.split(features, ends), np.split(counts, ends), strict=True)
        return [found for _, found in sorted(zip(longest_first, by_row, strict=True), key=itemgetter(0))]

    def _feature_ends(self, letters: npt.NDArray[np.uint8], lengths: Numbers) -> Numbers:
        """Find the feature that ends at each letter, -1 where none does. The automaton goes through all texts at once:
        a step of numpy takes as long for a hundred of them as for one."""
        states = np.zeros(letters.shape[::-1], np.int64)
        still = len(lengths) - np.searchsorted(lengths[::-1], np.arange(letters.shape[1]), side="right")
        state = np.zeros(len(letters), np.int64)
        for column, count, found in zip(letters.T, still.tolist(), states, strict=True):
            state = self._transitions[self._rows[state[:count]] + column[:count]]
            found[:count] = state
        feature_ends = self._features[states.T]
        feature_ends[np.arange(letters.shape[1]) >= lengths[:, None]] = -1
        return feature_ends

    def _language(self, features: Numbers, counts: Numbers, length: int) -> Language:
        if not len(features):
            return UNKNOWN
        # einsum, since BLAS sums in an order that depends on the machine and its threads.
        logs = np.einsum("f,fl->l", np.log1p(counts), self._weights[features].astype(np.float64)) + self._priors
        # n-grams overlap and are not independent evidence: their number counts as its square root.
        shares = np.exp((logs - logs.max()) / math.sqrt(length))
        by_tag = np.bincount(self._tag_of, weights=shares)
        best = int(by_tag.argmax())
        return Language(self._tags[best], round(float(by_tag[best] / by_tag.sum()) * SCORE_STEPS) / SCORE_STEPS)
