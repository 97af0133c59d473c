"""Sites that share rare texts belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.training.site_owners import MAX_SITES, MIN_TEXTS, find_owners

TEXTS = [f"text {number}" for number in range(MIN_TEXTS)]


def of(*sites: str, texts: list[str] = TEXTS) -> list[tuple[str, str]]:
    return [(site, text) for site in sites for text in texts]


def test_sites_of_one_owner_are_named_after_the_first() -> None:
    """Whichever texts they have beside."""
    pages = [*of("b.example", "a.example"), ("b.example", "of b alone"), ("c.example", "of c alone")]

    assert {"a.example": "a.example", "b.example": "a.example", "c.example": "c.example"} == find_owners(pages)


def test_a_site_between_two_joins_them() -> None:
    """Though these have no text in common."""
    others = [f"other {number}" for number in range(MIN_TEXTS)]
    found = find_owners([*of("a.example", "b.example"), *of("b.example", "c.example", texts=others)])

    assert {"a.example"} == set(found.values())


@pytest.mark.parametrize(
    "pages",
    [of("a.example", "b.example", texts=TEXTS[1:]), of(*[f"{number}.example" for number in range(MAX_SITES + 1)])],
    ids=["one text less", "one site more"],
)
def test_a_text_that_many_have_or_one_alone_joins_no_sites(pages: list[tuple[str, str]]) -> None:
    """A cookie note is of no owner, nor is a sentence that was quoted."""
    assert all(site == owner for site, owner in find_owners(pages).items())


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyzuvw"))))
def test_the_order_of_pages_does_not_matter(pages: list[tuple[str, str]]) -> None:
    """Each site has an owner, which is its own."""
    found = find_owners(pages)

    assert found == find_owners(pages[::-1])
    assert {site for site, _ in pages} == set(found)
    assert all(owner == found[owner] for owner in found.values())
