"""The map over files: fetched captures to pages, and one page a capture."""

from collections.abc import Sequence
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive import warc
from dbce_spark.archive.records import Flaw
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.pages import failed, fetches, parse_fetch, spared, unique
from dbce_spark.dbce.shingles import path_shingles
from dbce_spark.dbce.signature import bands, sign
from dbce_spark.errors import FULL, ConfigError
from dbce_spark.model import Capture, Page, Reject, RejectReason, RejectStage
from tests.support import small_classifier
from tests.support.builders import CONFIG, capture, config, gzipped, page, parsed, record
from tests.support.range_server import served

TEMPLATE = "<html><head></head><body><div><ul><li>a</li></ul><h1>b</h1><p>c</p><p><b>d</b></p></div></body></html>"


def test_page_has_signature_and_bands() -> None:
    """A page of enough elements is signed by its path shingles."""
    one = page(TEMPLATE)
    expected = sign(path_shingles(parsed(TEMPLATE).tree), CONFIG.lsh)

    assert one.signature is not None
    assert np.array_equal(expected, one.signature)
    assert np.array_equal(bands(expected, 0.6), one.bands)


def test_threshold_of_the_site_cuts_the_bands() -> None:
    """A site with a threshold of its own has bands of its own; its signatures stay comparable."""
    settings = config("lsh.threshold_by_site.example.org=0.3")
    one, other = page(TEMPLATE), page(TEMPLATE, settings=settings)

    assert one.signature is not None
    assert other.signature is not None
    assert np.array_equal(one.signature, other.signature)
    assert len(one.bands) < len(other.bands)


def test_layer_tokens_are_a_setting() -> None:
    """`template.tokens` chooses the shingles."""
    one, other = page(TEMPLATE), page(TEMPLATE, settings=config("template.tokens=layer"))

    assert one.bands.tolist() != other.bands.tolist()


@pytest.mark.parametrize(
    ("html", "settings", "flags"),
    [
        ("<p>hello</p>", (), ("few_shingles",)),
        (TEMPLATE, ("page.max_tokens=3",), ("too_many_tokens",)),
        ("<p>a b c d</p>", ("page.max_tokens=3",), ("few_shingles", "too_many_tokens")),
    ],
)
def test_page_that_stays_out_of_the_buckets(html: str, settings: tuple[str, ...], flags: tuple[str, ...]) -> None:
    """It has no signature, and its flags say why."""
    one = page(html, settings=config(*settings))

    assert (flags, None, 0) == (one.flags, one.signature, len(one.bands))


def test_truncated_record_is_flagged_and_signed() -> None:
    """A page that is cut is still a page."""
    one = page(TEMPLATE, truncated=True)

    assert one.flags == ("truncated",)
    assert one.signature is not None


@pytest.mark.parametrize(
    ("html", "reason"),
    [(b"<script>x</script>", RejectReason.NO_TEXT), (b"<!-- nothing -->", RejectReason.NO_TEXT)],
)
def test_page_without_text_is_a_reject(html: bytes, reason: RejectReason) -> None:
    """It says which record, and why."""
    made = parse_fetch(warc.Fetch(capture(warc_offset=7), html), CONFIG)

    assert isinstance(made, Reject)
    assert (RejectStage.PAGE, reason, 7, "<urn:uuid:1>") == (made.stage, made.reason, made.warc_offset, made.record_id)


def test_the_reject_of_a_page_without_text_says_that_its_record_is_cut() -> None:
    """Its words may have been behind the cut, or in what the damage changed."""
    cut = warc.Fetch(capture(truncated=True), b"<head><script>x")
    damaged = warc.Fetch(capture(), b"<head><script>x", frozenset({Flaw.DAMAGED}))
    details = [
        made.detail for made in map(partial(parse_fetch, config=CONFIG), (cut, damaged)) if isinstance(made, Reject)
    ]

    assert [
        "no word outside scripts, styles and forms; words may be missing: the record, or its body, is cut",
        "no word outside scripts, styles and forms; words may be wrong: the record fails its check",
    ] == details


def test_a_file_on_a_server_that_fails_for_a_while() -> None:
    """A whole file is read as ranges are: asked for again, later and later, from where it broke off."""
    data = b"".join(gzipped(*(record(url=f"http://www.example.org/{at}") for at in range(5))))
    settings = config("fetch.first_wait_seconds=0.001")
    with served(a__warc__gz=data) as site:
        site.troubles = ["status 503", "", "broken", "reset"]
        found = list(fetches(f"{site.url}/a.warc.gz", settings))

    assert [f"http://www.example.org/{at}" for at in range(5)] == [
        one.capture.url for one in found if isinstance(one, warc.Fetch)
    ]
    assert 5 == len(found)


def test_one_page_a_capture() -> None:
    """The first page of the same URL, time and payload stays, in order of ids."""
    one = page(TEMPLATE, warc_file="a.warc", warc_offset=9)
    again = page(TEMPLATE, warc_file="b.warc", warc_offset=1)
    other = page(TEMPLATE, payload_digest="sha1:B")
    made = unique([one, other, again])

    assert sorted([one.capture_id, other.capture_id]) == [some.capture_id for some in made]
    assert {"a.warc"} == {some.capture.warc_file for some in made if some.capture_id == one.capture_id}


def lengths(some: Sequence[Capture]) -> list[int]:
    """Count the characters of their URLs; an empty one is a fault."""
    return [1 // bool(one.url) * len(one.url) for one in some]


@given(st.lists(st.sampled_from(["", "a", "bc"])))
def test_a_page_that_fails_costs_no_other(urls: list[str]) -> None:
    """It is a reject of its stage, with the error; the others come out as they would without it."""
    outcomes = spared(lengths, [capture(url) for url in urls], lambda one, error: failed(one, RejectStage.LABEL, error))
    fault = ("", RejectStage.LABEL, RejectReason.PAGE_FAILED, "ZeroDivisionError: integer division or modulo by zero")

    assert [len(url) or fault for url in urls] == [
        (one.url, one.stage, one.reason, one.detail) if isinstance(one, Reject) else one for one in outcomes
    ]


@pytest.mark.parametrize("error", [ConfigError("no such classifier"), MemoryError()])
def test_an_error_that_is_no_pages_ends_the_run(error: Exception) -> None:
    """A page is not blamed for what all pages will meet."""

    def work(some: Sequence[Capture]) -> list[int]:
        raise error

    with pytest.raises(type(error)):
        spared(work, [capture()], lambda one, error: failed(one, RejectStage.LABEL, error))


EMPTY = Fetch(capture(warc_offset=99), b"<script>x</script>")


def same(one: Page, other: Page) -> bool:
    assert one.features is not None
    assert other.features is not None
    return one.capture_id == other.capture_id and all(
        np.array_equal(getattr(one.features, name), getattr(other.features, name))
        for name in ("codes", "first_scores", "keys")
    )


def test_batches_do_not_matter(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """One by one, in order and in reverse, captures become the same pages."""
    alone = [pages.parse_fetch(fetch, classifying) for fetch in small_classifier.fetches()]
    reverse = pages.parse_fetches(small_classifier.fetches()[::-1], classifying)[::-1]
    for one, other, last in zip(trained_pages, alone, reverse, strict=True):
        assert isinstance(other, Page)
        assert isinstance(last, Page)
        assert same(one, other)
        assert same(one, last)


def test_rejects_keep_their_place(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """A capture that gives no page takes nothing from those beside it."""
    made = pages.parse_fetches(
        [EMPTY, small_classifier.fetches()[0], EMPTY, small_classifier.fetches()[1], EMPTY], classifying
    )

    assert [True, False, True, False, True] == [isinstance(one, Reject) for one in made]
    for one, other in zip(trained_pages[:2], made[1::2], strict=True):
        assert isinstance(other, Page)
        assert same(one, other)


def test_nothing_fetched_is_nothing_read() -> None:
    """No classifier is needed for nothing."""
    assert [] == pages.parse_fetches([], config("label.classifier=none.npz"))
    assert isinstance(pages.parse_fetch(EMPTY, config("label.classifier=none.npz")), Reject)


def test_missing_classifier_is_an_error() -> None:
    """A missing classifier is an error where it is used."""
    with pytest.raises(ConfigError, match=r"none\.npz is no classifier"):
        pages.parse_fetch(small_classifier.fetches()[0], config("label.classifier=none.npz"))


def test_bit_patterns_need_no_classifier() -> None:
    """Pages come without features, and are labelled without."""
    settings = config("label.by=T002", "label.classifier=none.npz")
    (made,) = pages.parse_fetches(small_classifier.fetches()[:1], settings)

    assert isinstance(made, Page)
    assert made.features is None
    assert ["single"] == [one.status for one in local.extract_pages([made], settings)]


@pytest.mark.parametrize("number", FULL)
def test_a_full_disk_is_no_fault_of_a_page(number: int) -> None:
    """A library that finds no room for its model ends the work: as rejects, pages would be lost in silence."""
    full = OSError(number, "No space left on device")
    with pytest.raises(OSError, match="No space left"):
        spared(Mock(side_effect=full), ["a", "b"], Mock())
