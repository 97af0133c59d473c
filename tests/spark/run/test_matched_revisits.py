"""Revisits meet their originals where one process holds all captures, those of a collection's earlier crawls too."""

from collections import Counter
from dataclasses import replace

from dbce_spark.archive.revisits import PriorCapture
from dbce_spark.model import Capture, Revisit
from dbce_spark.spark.run.matched_revisits import PriorCaptures, match
from tests.support.builders import URL, capture, microseconds

OLD = capture(date="2020-01-01T00:00:00Z", payload_digest="sha1:A")
NEW = capture(date="2020-01-03T00:00:00Z", payload_digest="sha1:B")
"""A capture of an earlier crawl, and one of this."""


def revisit(day: int, digest: str) -> Revisit:
    """Make a revisit of URL."""
    return Revisit(
        url=URL,
        url_key=OLD.url_key,
        site=OLD.site,
        timestamp=microseconds(f"2020-01-{day:02}T00:00:00Z"),
        warc_file="b.warc.gz",
        warc_offset=day,
        warc_length=100,
        record_id="",
        http_status=200,
        is_unmodified=False,
        digest=digest,
        refers_to_id="",
        refers_to_key=OLD.url_key,
        refers_to_time=None,
    )


def prior(*pages: Capture, revisited: str = "") -> PriorCaptures:
    """Make a prior state of pages, and of one revisit that shares the extraction of one of them."""
    named = [
        PriorCapture(**{name: getattr(page, name) for name in PriorCapture.__dataclass_fields__}) for page in pages
    ]
    return PriorCaptures(named, frozenset([*(page.capture_id for page in pages), *filter(None, [revisited])]))


def test_original_of_an_earlier_crawl() -> None:
    """A revisit shares the extraction of a page of the prior state."""
    matched = match([NEW], [revisit(4, "sha1:A")], prior(OLD))

    assert [OLD.capture_id] == [one.original_id for one in matched.shared]


def test_captures_of_an_earlier_crawl_go_no_further() -> None:
    """A page and a revisit that the prior state has are duplicates; the page is dropped, at each of its places."""
    again = revisit(4, "sha1:A")
    (shared,) = match([], [again], prior(OLD)).shared
    matched = match([OLD, OLD, NEW], [again], prior(OLD, revisited=shared.capture_id))

    assert not matched.shared
    assert (Counter(duplicate=2), Counter(duplicate=1)) == (matched.counts.dropped, matched.counts.skipped)


def test_a_page_that_an_earlier_revisit_was_has_no_extraction() -> None:
    """Revisits that refer to it are counted beyond the limit, as by the strategy for many captures."""
    matched = match([NEW], [revisit(4, "sha1:B")], prior(OLD, revisited=NEW.capture_id))

    assert ([], Counter(limit=1)) == (matched.shared, matched.counts.skipped)


def test_revisits_without_an_original_wait() -> None:
    """They are rejects, and kept for what comes later; one whose URL is no page's is neither."""
    image = replace(revisit(5, "sha1:C"), url="http://www.example.org/a.png", http_status=0)
    lost = revisit(4, "sha1:C")
    matched = match([NEW], [image, lost], prior(OLD))

    assert [lost] == matched.pending
    assert [lost.warc_offset] == [one.warc_offset for one in matched.rejects]
