"""Links that close one block after the other are the site's, and blocks of their own."""

import pytest

from dbce_spark.html.closing_links import Closing, closing_texts, cut_closing, recurring
from tests.support.builders import parsed

TEASERS = "".join(f"<li>News of day {day} <a href=/{day}>(more)</a>" for day in "abc")


@pytest.mark.parametrize(
    ("parts", "linked", "expected"),
    [
        (["Text ", "more"], [1], [(1, "more")]),
        (["Text [", "edit", " | ", "source", "]"], [1, 3], [(3, "source]"), (1, "edit | source]")]),
        (["Heading", "\u00b6", " "], [1], [(1, "\u00b6")]),
        (["render", "(", "*args", ")", "\u00b6"], [4], [(4, "\u00b6")]),
        (["Text ", "[", "edit", "]"], [2], [(2, "edit]")]),
        (["f() ", "Type 2", "[source]", "\u00b6"], [1, 2, 3], [(3, "\u00b6"), (2, "[source]\u00b6")]),
        (["See ", "the map", "."], [1], []),
        (["Read ", "this", " first"], [1], []),
        (["more"], [0], []),
        (["more", "share"], [0, 1], []),
        (["See ", "the map", " or ", "the plan"], [1, 3], [(3, "the plan")]),
        (["Text ", "page 2"], [1], []),
        (["Text", " one title of thirty characters "], [1], [(1, "one title of thirty characters")]),
        (["Text ", "a title that goes on for more than thirty characters"], [1], []),
    ],
)
def test_links_and_signs_close_a_block(parts: list[str], linked: list[int], expected: list[tuple[int, str]]) -> None:
    """A few words without a number behind text; not those that a sentence ends with, nor the bracket that ends the
    text."""
    actual = closing_texts(parts, linked, linked, to_place=False)

    assert expected == [*actual]


def test_a_link_to_a_place_closes_a_heading_that_is_a_link_itself() -> None:
    """The heading is none of it."""
    actual = closing_texts(["Heading", "\u00b6"], [0, 1], [0, 1], to_place=True)

    assert [(1, "\u00b6")] == [*actual]


@pytest.mark.parametrize(
    ("targets", "others", "recurs"),
    [
        ("abc", 0, True),
        ("ab", 0, False),
        ("aaabbbccc", 0, False),
        ("abca", 0, True),
        ("abc", 3, True),
        ("abc", 4, False),
    ],
)
def test_a_recurring_link_leads_elsewhere_each_time(targets: str, others: int, recurs: bool) -> None:
    """To three places and half as many as it closes blocks; and it closes at least half of the lines it is in."""
    closings = [Closing(block, "more", target, 1, 1) for block, target in enumerate(targets)]

    actual = recurring(closings, ["more"] * (len(targets) + others))

    assert (closings if recurs else []) == actual


def test_of_closings_that_recur_the_one_with_most_links_is_chosen() -> None:
    """In whichever order a page has them."""
    long = [Closing(at, "more | share", f"/{at}", 2, 2) for at in range(3)]
    short = [Closing(at, "share", f"/{at}", 1, 1) for at in range(3)]

    assert [long, long] == [recurring([*long, *short], []), recurring([*short, *long], [])]


@pytest.mark.parametrize(
    ("texts", "links", "recurs"),
    [
        (["more)"] * 3, ["more"] * 7, False),
        (["more)"] * 3, ["more"] * 6, True),
        (["more)"] * 3 + ["more \u00bb"] * 4, ["more"] * 3 + ["more \u00bb"] * 4, True),
        (["[source]\u00b6"] * 3, ["[source]", "\u00b6"] * 3, True),
    ],
    ids=["mostly in lines", "half in lines", "with other signs", "two links"],
)
def test_signs_around_a_link_do_not_hide_it_within_a_line(texts: list[str], links: list[str], recurs: bool) -> None:
    """Of "(more)" the link is "more", and closings with other signs are no lines that it is in."""
    closings = [Closing(block, text, str(block), 1, 1) for block, text in enumerate(texts)]

    assert (closings if recurs else []) == recurring(closings, links)


@pytest.mark.parametrize(
    ("text", "closing", "expected"),
    [
        ("Text more", "more", ("Text", "more")),
        ("History [edit]", "edit]", ("History", "[edit]")),
        ("Heading\u00b6", "\u00b6", ("Heading", "\u00b6")),
        ("News \u2013 more", "more", ("News", "\u2013 more")),
    ],
)
def test_signs_that_open_a_closing_go_with_it(text: str, closing: str, expected: tuple[str, str]) -> None:
    """No bracket stays behind."""
    actual = cut_closing(text, closing)

    assert expected == actual


def test_recurring_links_are_blocks_of_their_own() -> None:
    """With their links and the words in these, in the element that the text is in."""
    page = parsed(f"<ul>{TEASERS}</ul><p>Text <a href=/x>end</a></p>")

    texts = ["News of day a", "(more)", "News of day b", "(more)", "News of day c", "(more)", "Text end"]
    assert texts == page.blocks.text.split("\n")
    assert [0, 1, 0, 1, 0, 1, 1] == page.blocks.link_words.tolist()
    assert [1, 3, 5, 6] == page.tree.link_blocks
    assert [(0, 2), (2, 4), (4, 6)] == [
        (first, last)
        for first, last, slot in zip(page.tree.firsts, page.tree.lasts, page.tree.slots, strict=True)
        if page.tree.slot_names[slot] == "li"
    ]
    assert page.blocks.xpaths[0] == page.blocks.xpaths[1] == "/html[1]/body[1]/ul[1]/li[1]"


def test_lines_of_a_closing_go_with_it() -> None:
    """Links that stand below the text, a line each, are set apart as those beside it."""
    actual = parsed("".join(f"<li>News {day}<br><a href=/{day}>more</a><br><a href=/{day}>share</a>" for day in "abc"))

    assert "News a\nmore\nshare\nNews b\nmore\nshare\nNews c\nmore\nshare" == actual.blocks.text
    assert 6 == len(actual.blocks)


def test_a_name_that_closes_blocks_stays_in_its_line() -> None:
    """It leads to one page."""
    actual = parsed("".join(f"<li>News {day} by <a href=/ann>Ann</a>" for day in "abc")).blocks.text

    assert "News a by Ann\nNews b by Ann\nNews c by Ann" == actual


@pytest.mark.parametrize(
    ("text", "links", "expected"),
    [
        ("f{0}()", "<a href=/s/{0}>[source]</a><a href=#{0}>\u00b6</a>", "f{0}()\n[source]\u00b6"),
        ("f \u2192 <a href=/t>Of {0}</a>", "<a href=/s/{0}>[source]</a>", "f \u2192 Of {0}\n[source]"),
        ("<a href=#toc-{0}>About {0}</a>", "<a href=#{0}>\u00b6</a>", "About {0}\n\u00b6"),
        ("<a href=/{0}>About {0}</a> ", "<a href=/share/{0}>share</a>", "About {0} share"),
    ],
    ids=["two of them", "behind a link", "behind a heading that is one", "two links"],
)
def test_the_longest_closing_that_recurs_is_set_apart(text: str, links: str, expected: str) -> None:
    """A link that closes headings alone, and definitions with another link, recurs in both."""
    headings = "".join(f"<h2>{one}<a href=#h-{one}>\u00b6</a></h2>" for one in ("x", "y"))
    actual = parsed("".join(f"<dt>{text}{links}</dt>".format(one) for one in "abcd") + headings).blocks.text

    sign = "\n\u00b6" if "\u00b6" in links else "\u00b6"
    assert "\n".join([*map(expected.format, "abcd"), f"x{sign}", f"y{sign}"]) == actual
