"""Odd changes between crawls are reported, ordinary ones are not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dbce_spark.output.history import crawl_anomalies
from dbce_spark.output.history.crawl_anomalies import Figures, Finding, Site, Template
from tests.support.builders import config

CONFIG = config().comparison
SITE = Site(captures=100, single=10, short=5, words=50_000, text_words=30_000)


def figures(sites: Mapping[str, Site], **given: Any) -> Figures:
    """Build the figures of a crawl of these sites, each of one template that all its pages with siblings have."""
    defaults: dict[str, Any] = {
        "number": 1,
        "templates": {(site, f"of {site}"): one.captures - one.single for site, one in sites.items()},
        "refused": {"no_text": 4},
        "repeated": 0,
        "files": 100,
        "failed_files": 0,
    }
    return Figures(sites=sites, **(defaults | given))


BEFORE = figures({f"{name}.example": SITE for name in "abcd"})


def odd(now: Figures, before: Figures = BEFORE, lost: tuple[Template, ...] = ()) -> dict[str, Finding]:
    return {one.kind: one for one in crawl_anomalies.compare(before, now, lost, CONFIG)}


def changed(*names: str, **figures_of: int) -> Figures:
    """Copy the figures of a crawl, with other figures of some sites."""
    sites = {f"{name}.example": replace(SITE, **figures_of) for name in names}
    return replace(BEFORE, sites={**BEFORE.sites, **sites})


def times(site: Site, factor: int) -> Site:
    return sum([site] * factor, Site())


SITES = st.builds(
    lambda captures, single, short, words, text: Site(
        captures=captures,
        single=captures * single // 10,
        short=captures * short // 10,
        words=captures * words,
        text_words=captures * words * text // 10,
    ),
    st.integers(1, 400), st.integers(0, 10), st.integers(0, 10), st.integers(1, 999), st.integers(0, 10),
)  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(SITES, st.integers(6, 19)), min_size=1))
@example({"full": (SITE, 6), "bare": (replace(SITE, text_words=500, short=90, single=90), 19)})
def test_another_mix_of_the_same_sites_is_not_odd(sites: dict[str, tuple[Site, int]]) -> None:
    """More captures of one site and fewer of another, each with its shares as before, give no finding."""
    before = figures({name: times(site, 10) for name, (site, _) in sites.items()})
    now = figures({name: times(site, factor) for name, (site, factor) in sites.items()})

    assert [] == crawl_anomalies.missing_templates(before, now, CONFIG)
    assert {} == odd(now, before)


@pytest.mark.parametrize(
    ("now", "kind", "message", "place"),
    [
        (changed(*"abcd", text_words=20_000), "content", "Less of the words is main text: 40.0 %", "a.example: "),
        (changed("b", text_words=15_000), "content", "main text on 1 site; over all of them", "b.example: 30.0 %"),
        (changed(*"abcd", short=30), "short", "30.0 %, where 5.0 % was to be expected", "a.example: 30.0 %, was"),
        (changed("c", single=70), "single", "More pages have no siblings", "c.example: 70.0 %, was 10.0 %"),
        (changed(*"abcd", single=40), "single", "40.0 %, where 10.0 % was", "a.example"),
        (
            changed("d", captures=10, single=1, short=0, words=5_000, text_words=3_000),
            "captures",
            "1 site",
            "after 100",
        ),
        (replace(BEFORE, refused={"no_text": 4, "HTTP 403": 90}), "rejects", "90 records refused as HTTP 403", ""),
        (replace(BEFORE, failed_files=7), "failed", "7 of 100 files could not be read", ""),
        (figures({"a.example": SITE, "b.example": SITE, "c.example": SITE}), "sites", "1 site ", "d.example: had 100"),
        (figures({}, refused={}), "empty", "brought nothing new", ""),
    ],
)
def test_what_is_odd_is_reported(now: Figures, kind: str, message: str, place: str) -> None:
    """One finding, of its kind, in words and with the place where it shows."""
    (found,) = odd(now).values()

    assert kind == found.kind
    assert message in found.message
    assert place in " ".join(found.places)
    assert found.oddness >= 1


def test_what_chance_may_bring_is_not_odd() -> None:
    """A changed share is no finding over few pages, and is one over many."""
    few = figures({"a": Site(captures=20, single=2, words=9_000, text_words=5_000)})
    more = figures({"a": Site(captures=20, single=6, words=9_000, text_words=5_000)})
    many, many_more = (figures({"a": times(one.sites["a"], 50)}) for one in (few, more))

    assert {} == odd(more, few)
    assert {"single"} == {*odd(many_more, many)}


def test_a_few_captures_more_or_less_are_not_odd() -> None:
    """Three times as many captures are no finding in a small crawl, and are one in a large crawl."""
    some, thrice = (figures({"a": Site(captures=count, words=9_000, text_words=5_000)}) for count in (3, 9))
    many, many_more = (figures({"a": times(one.sites["a"], 50)}) for one in (some, thrice))

    assert {} == odd(thrice, some)
    assert {"captures"} == {*odd(many_more, many)}


def test_one_of_many_sites_is_not_odd() -> None:
    """One changed site is no finding among two hundred, and is one among five."""
    before = figures({f"{number:03}": SITE for number in range(200)})
    sites = {f"{number:03}": replace(SITE, text_words=5_000) for number in range(5)}
    one, five = (replace(before, sites={**before.sites, **dict([*sites.items()][:count])}) for count in (1, 5))

    assert {} == odd(one, before)
    assert 5 == len(odd(five, before)["content"].places)


def test_places_are_few() -> None:
    """A finding names five places, and the number of the others."""
    before = figures({f"{number:02}": SITE for number in range(20)})
    now = replace(before, sites={name: replace(site, short=50) for name, site in before.sites.items()})

    assert (6, "and 15 more") == (len(odd(now, before)["short"].places), odd(now, before)["short"].places[-1])


def test_a_template_is_missing_by_what_its_site_has() -> None:
    """A template with fewer captures is not missing if its site was crawled less, or is small."""
    name = ("a.example", "of a.example")
    other = {("a.example", "new"): 90}
    less = changed("a", captures=30)
    few = changed("a", captures=6)

    assert [name] == crawl_anomalies.missing_templates(
        BEFORE, replace(BEFORE, templates={**BEFORE.templates, name: 8}), CONFIG
    )
    assert [] == crawl_anomalies.missing_templates(
        BEFORE, replace(BEFORE, templates={**BEFORE.templates, name: 9}), CONFIG
    )
    assert [] == crawl_anomalies.missing_templates(
        BEFORE, replace(less, templates={**BEFORE.templates, name: 4}), CONFIG
    )
    assert [name] == crawl_anomalies.missing_templates(BEFORE, replace(less, templates=other | _but(name)), CONFIG)
    assert [] == crawl_anomalies.missing_templates(BEFORE, replace(few, templates=_but(name)), CONFIG)


def _but(template: Template) -> dict[Template, int]:
    return {one: captures for one, captures in BEFORE.templates.items() if one != template}


def test_lost_templates_are_reported() -> None:
    """The finding names lost templates with their sites, and counts the captures they had."""
    found = odd(BEFORE, lost=(("a.example", "of a.example"),))["templates"]

    assert "1 template with 22.5 % of the captures" in found.message
    assert ("a.example, template of a.exa: had 90 captures",) == found.places
    assert 22.5 == pytest.approx(found.oddness)


def test_the_oddest_comes_first() -> None:
    """Findings are sorted by how far they are beyond their thresholds."""
    now = replace(changed(*"abcd", short=30, text_words=5_000), failed_files=2)
    found = crawl_anomalies.compare(BEFORE, now, (), CONFIG)

    assert ["content", "short", "failed"] == [one.kind for one in found]
    assert sorted((one.oddness for one in found), reverse=True) == [one.oddness for one in found]
