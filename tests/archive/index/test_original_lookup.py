"""The originals of revisits are found in an index, in whatever order its lines come."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.capture_filter import selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.original_lookup import MOST_KEYS, Lookup, Payload, lookup_selection
from dbce_spark.archive.revisits import indexed_names
from dbce_spark.model import Revisit
from tests.support.indexes import entry, micros, select
from tests.support.revisits import unresolved_revisit

URL, KEY = "http://www.example.org/a", "org,example)/a"
NOON = micros("2020-01-02T12:00:00")
DIGEST = entry().digest


def revisit(**fields: Any) -> Revisit:
    """Make a revisit of URL, ten seconds after noon, at byte 900 of b.warc.gz."""
    known = {"url": URL, "url_key": KEY, "refers_to_key": KEY, "timestamp": NOON + 10_000_000, "warc_offset": 900}
    return unresolved_revisit(**(known | fields))


def original(some: list[IndexEntry], *revisits: Revisit) -> IndexEntry | None:
    """Return the entry that is found for the first of the revisits."""
    lookup = looked_up(some, *revisits)
    payload = lookup.original(revisits[0])
    return next((one for one in some if payload and (one.path, one.offset) == payload[:2]), None)


def looked_up(some: list[IndexEntry], *revisits: Revisit) -> Lookup:
    lookup = Lookup.from_names(
        ((name, one.timestamp) for one in revisits for name in indexed_names(one)),
        ((one.warc_file, one.warc_offset) for one in revisits),
    )
    for one in some:
        lookup.offer(one)
    return lookup


def at(seconds: int, **fields: Any) -> IndexEntry:
    """Make a capture of URL so many seconds after noon, at that place."""
    return entry(timestamp=NOON + seconds * 1_000_000, offset=seconds, **fields)


def test_by_digest() -> None:
    """The earliest capture of the same URL with the payload, and without one the earliest of all."""
    other = {"url": "http://www.example.org/b", "urlkey": "org,example)/b"}
    some = [at(3), at(2), at(1, **other), at(0, digest="sha1:B")]

    assert some[1] == original(some, revisit(digest=DIGEST))
    assert some[2] == original(some[2:], revisit(digest=DIGEST))


def test_by_date() -> None:
    """The capture of the URL in the second that the revisit names; fractions are not compared."""
    some = [at(1, digest=""), at(2, digest=""), at(2, url="http://www.example.org/b", urlkey="org,example)/b")]

    assert some[1] == original(some, revisit(refers_to_time=NOON + 2_500_000))
    assert None is original(some, revisit(refers_to_time=NOON + 3_000_000))


def test_key_of_another_kind() -> None:
    """An index whose keys are no SURT is searched by URL."""
    assert at(2, urlkey="") == original([at(2, urlkey="")], revisit(refers_to_time=NOON + 2_000_000))


def test_not_modified_is_the_latest_before() -> None:
    """For each revisit the latest capture up to it, however many revisits the URL has."""
    some = [at(12), at(3), at(9), at(5), at(11)]
    later = revisit(is_unmodified=True, timestamp=NOON + 11_000_000)

    assert some[2] == original(some, revisit(is_unmodified=True), later)
    assert some[4] == original(some, later, revisit(is_unmodified=True))
    assert None is original(some, revisit(is_unmodified=True, timestamp=NOON), later)


@pytest.mark.parametrize(
    "fields", [{"is_revisit": True}, {"status": 304}, {"path": "b.warc.gz", "offset": 900}], ids=str
)
def test_revisit_is_no_original(fields: dict[str, Any]) -> None:
    """Neither one that the index calls so, nor the one itself, which some indexes list as what its HTTP head says."""
    assert None is original([entry(**fields)], revisit(digest=DIGEST))


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "sha1:B", DIGEST])), max_size=9), st.randoms())
def test_order_does_not_matter(captures: list[tuple[int, str]], random: Any) -> None:
    """The entries kept, and found, are the same in whatever order the lines come."""
    revisits = [
        revisit(is_unmodified=True, timestamp=NOON + 5_000_000),
        revisit(is_unmodified=True, timestamp=NOON + 7_000_000),
        revisit(digest=DIGEST),
        revisit(refers_to_time=NOON + 4_000_000),
    ]
    some = [at(seconds, digest=digest) for seconds, digest in captures]
    shuffled = random.sample(some, len(some))
    one, other = looked_up(some, *revisits), looked_up(shuffled, *revisits)
    before = [seconds for seconds, _ in captures if seconds <= 5]

    assert sorted(one.found()) == sorted(other.found())
    assert [one.original(each) for each in revisits] == [other.original(each) for each in revisits]
    assert (max(before) if before else None) == offset_of(one.original(revisits[0]))
    assert min((seconds for seconds, digest in captures if digest == DIGEST), default=None) == offset_of(
        one.original(revisits[2])
    )


def offset_of(payload: Payload | None) -> int | None:
    return None if payload is None else payload.offset


def test_revisits_of_one_url_without_original() -> None:
    """A front page that was not modified five thousand times: each look-up is one search, not one a revisit."""
    revisits = [revisit(is_unmodified=True, timestamp=NOON + nth) for nth in range(5_000)]
    lookup = looked_up([at(1)], *revisits)

    class Kept(dict[Any, Any]):
        asked = 0

        def get(self, key: Any, default: Any = None) -> Any:
            self.asked += 1
            return super().get(key, default)

    lookup._kept = Kept(lookup._kept)

    assert [None] * 100 == [lookup.original(each) for each in revisits[-100:]]
    assert lookup._kept.asked <= 100


def test_what_is_kept_is_bounded() -> None:
    """One entry a name, and one for each revisit where only those before it count; whatever the index holds."""
    some = [at(seconds) for seconds in range(500)]
    lookup = looked_up(
        some, revisit(digest=DIGEST), revisit(is_unmodified=True), revisit(is_unmodified=True, timestamp=0)
    )

    assert 3 == len([*lookup.found()])


def test_what_an_index_is_asked() -> None:
    """Everything; of sorted ones the parts of the selection and, up to a bound, the keys that revisits refer to."""
    chosen = selection(select(surts=("org,example)/",), since="2020", statuses=(200,), urls=("x",)))
    keys = [KEY, *(f"org,zzz)/{nth:05}" for nth in range(MOST_KEYS + 1))]
    found = lookup_selection(chosen, keys)

    assert None is found.refusal(entry(timestamp=0, status=404))
    assert ("org,example)/", "org,zzz)/00000") == found.prefixes[:2]
    assert MOST_KEYS + 1 == len(found.prefixes)
    assert ("", ()) == (found.config.since, found.config.statuses)
    assert () == lookup_selection(selection(select(since="2020")), keys).prefixes
