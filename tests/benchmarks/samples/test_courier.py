"""Draw the pages of a daily whose drift is stated."""

from benchmarks.samples.courier import (
    CAMPAIGN_DAYS,
    MENU_DAYS,
    REDESIGN_DAYS,
    STORIES_A_DAY,
    Courier,
)
from benchmarks.samples.sample_site import Moment


def courier(copies: float = 0.0) -> Courier:
    return Courier("www.courier.example", "The Courier", "1", 6_001, 200, copies=copies)


def texts(site: Courier, number: int, kind: str) -> list[str]:
    """List the texts of a kind on the page of a story."""
    drawn = site.draw(site.lists + number, Moment(0, 0))
    return [block.text for block in drawn.blocks if block.kind == kind]


def test_one_entry_of_the_menu_is_replaced_every_ten_days() -> None:
    """The others stay, and so do all of them within the ten days."""
    site = courier()
    first, same, later = (site.menu(at * STORIES_A_DAY) for at in (MENU_DAYS, 2 * MENU_DAYS - 1, 2 * MENU_DAYS))

    assert first == same
    assert [1] == [at for at, (before, after) in enumerate(zip(first, later, strict=True)) if before != after]


def test_fixed_words_change_with_a_redesign_alone() -> None:
    """Footers have other words from the twentieth day on."""
    site = courier()
    before, last, after = (texts(site, at * STORIES_A_DAY, "footer") for at in (0, REDESIGN_DAYS - 1, REDESIGN_DAYS))

    assert before == last
    assert not {*before} & {*after}


def test_campaign_ends_after_seven_days() -> None:
    """The adverts of a day are others than those of a week before; of the day before, most still run."""
    site = courier()

    def of_day(day: int) -> set[str]:
        return {text for at in range(40) for text, _ in site.campaigns(day * STORIES_A_DAY + at)}

    first, next_day, later = map(of_day, (20, 21, 20 + CAMPAIGN_DAYS))

    assert len(first & next_day) > 0.7 * len(first)
    assert len(first & later) < 0.1 * len(first)


def test_copy_has_the_text_of_its_source_and_a_paragraph_more() -> None:
    """A share of the stories appears a second time; without copies none does."""
    site = courier(copies=0.2)
    copies = [number for number in range(500) if site.source(number) != number]
    number = copies[0]
    source = site.source(number)

    assert 50 < len(copies) < 120
    assert source < number
    assert site.item(source).title == site.item(number).title
    assert site.text(source) == site.text(number)[:-1]
    assert not [one for one in range(500) if courier().source(one) != one]


def test_list_of_the_latest_has_the_stories_before() -> None:
    """A story is linked from the next ones."""
    site = courier()

    assert [site.item(at).title for at in range(19, 11, -1)] == [one.title for one in site.latest(20)]
    assert [] == site.latest(0)
    assert {site.item(19).title} <= {*texts(site, 20, "list")}
