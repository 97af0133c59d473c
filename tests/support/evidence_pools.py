"""Support for tests of pools: pages in buckets of our choice, and a model that records what it was given."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
from hypothesis import strategies as st

from dbce_spark.dbce import moments
from dbce_spark.model import Codes, Page, PageFeatures
from tests.support.builders import block_features, page

HOST = "http://www.example.org"
_LINES = tuple(page(f"<p>Line one of {name}</p><p>and <a href=/>another</a></p><p>{name}</p>") for name in "abc")


def page_in(bands: Sequence[int] | None, url: str = "a", day: int = 1, host: str = HOST, lines: int = 0) -> Page:
    """A page with these band keys (None: without signature), as the classifier left it.

    With other lines it is another capture, also of the same day."""
    like = page("<p>x</p>", f"{host}/{url}", f"2020-01-{day:02}T00:00:00Z", payload_digest=f"sha1:{lines}")
    made = replace(like, blocks=_LINES[lines].blocks)
    if bands is not None:
        made = replace(made, signature=np.zeros(4, np.uint32), bands=np.array(bands, np.uint64))
    return replace(made, features=block_features(made))


class Echo:
    """A model whose codes record the captures that are evidence, their order if that matters, and what they hold."""

    def of_siblings(self, captures: Sequence[PageFeatures], wanted: Collection[str]) -> dict[str, Codes]:
        first: dict[str, PageFeatures] = {}
        for one in sorted(captures, key=lambda one: (one.url_key, one.timestamp, one.capture_id)):
            first.setdefault(one.url_key, one)
        evidence = [*first.values()]
        return {
            one.capture_id: _codes(one, evidence, [*first].index(one.url_key))
            for one in captures
            if one.capture_id in wanted and len(evidence) > 1
        }

    def of_snapshots(self, captures: Sequence[PageFeatures]) -> dict[str, Codes]:
        return {
            one.capture_id: _codes(one, others, sum(other.timestamp < one.timestamp for other in others))
            for moment, others in moments.snapshots(captures)
            for one in moment
            if others
        }


def _codes(one: PageFeatures, evidence: Sequence[PageFeatures], place: int) -> Codes:
    """Encode the number of captures, their ids, what they hold, the place of this one; then its own columns."""
    who = crc32(" ".join(f"{other.capture_id} {other.url_key} {other.timestamp}" for other in evidence).encode())
    what = crc32(b"".join(column.tobytes() for other in evidence for column in _columns(other)))
    of_page = [np.full(len(one.words), number) for number in (len(evidence), who, what, place)]
    return np.stack([*of_page, *_columns(one)]).astype(np.uint8)


def _columns(one: PageFeatures) -> list[Codes]:
    return [column.astype(np.uint8) for column in (one.words, one.link_words, one.first_scores, *one.keys)]


@st.composite
def archives(draw: st.DrawFn, max_size: int = 14) -> list[Page]:
    """Draw captures of few URLs at few times in few buckets; some without signature, some without features."""
    drawn: dict[str, Page] = {}
    for _ in range(draw(st.integers(0, max_size))):
        bands = draw(st.none() | st.lists(st.integers(0, 1), min_size=3, max_size=3))
        made = page_in(bands, draw(st.sampled_from("abcde")), draw(st.integers(1, 4)), lines=draw(st.integers(0, 2)))
        drawn[made.capture_id] = made if draw(st.integers(0, 9)) else replace(made, features=None)
    return list(drawn.values())
