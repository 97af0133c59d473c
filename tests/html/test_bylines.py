"""Names of authors in bylines, and of a page."""

import pytest
from lxml import html as lxml_html

from dbce_spark.html.bylines import name_of, names_of_page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Ann Lee", "Ann Lee"),
        ("<a>Ann Lee</a><span>Senior Editor</span>", "Ann Lee"),
        ("<span>Author</span><a>Ann Lee</a>", "Ann Lee"),
        ("<a>świat żyje</a><span>Łucja Źdźbło</span>", "Łucja Źdźbło"),
        ("<a>ấn phẩm mới</a><span>Đỗ Ánh</span>", "Đỗ Ánh"),
        ("<a>Ann Lee</a><div>Dec 14</div>", "Ann Lee"),
        ("<div>Dec 14, 2023</div><a>Ann Lee</a>", "Ann Lee"),
        ("Dec. 19, 2025 · Ann Lee", "Ann Lee"),
        ("Ann Lee May 14", "Ann Lee"),
        ("Ann Lee on 3 May 2014", "Ann Lee"),
        ("Ann Lee Wednesday, May 14, 2014", "Ann Lee"),
        ("Ann Lee, 14.5.2014", "Ann Lee"),
        ("Ann Lee 2 hours ago", "Ann Lee"),
        ("ann7 2014-05-14 08:30", "ann7"),
        ("Post by <b>ann7</b> » Sun Dec 17, 2023 8:03 am", "ann7"),
        ("<h2>Harbour opens again</h2><span>By Ann Lee</span>", "Ann Lee"),
        ("by <b>the harbour team</b>", "the harbour team"),
        ("by annlee on <i>Aug 8 2012</i>", "annlee"),
        ("<time>Saturday</time>", ""),
        ("— Ann Lee", ""),
        ("<b>蔡越坤</b><p>经济观察报 金融市场部记者", ""),
        ("Ann<div>Dec 14</div>", "Ann"),
        ("Ann Mary Lee 14.5.2014", "Ann Mary Lee"),
        ("Ann Mary Lee, 14 May 2014", "Ann Mary Lee"),
        ("Published 3 May 2014", ""),
        ("harbour news 2014-05-14 08:30", ""),
        ("by " + "word " * 30, ""),
        ("Sun Dec 17", ""),
        ("Published: January 09, 2008", ""),
        ("Published on <b>Tuesday 17 January 2012</b>", ""),
        ("Personal finance <b>January 27</b>", ""),
        ("harbours<div>comments</div>", ""),
        ("Comment<p>" + "She opened the harbour. " * 5, ""),
    ],
)
def test_name_in_an_element(html: str, expected: str) -> None:
    """Dates, roles and labels beside a name are none of it; what may be something else is no name."""
    assert expected == name_of(lxml_html.fragment_fromstring(html, create_parent="div"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("By Ann Lee and Bob Ray", "Ann Lee and Bob Ray"),
        ("By Ann Lee, Bob Ray and Cat Poe", "Ann Lee, Bob Ray and Cat Poe"),
        ("By Ann Lee, Bob Ray, & Cat Poe | 3 May", "Ann Lee, Bob Ray, & Cat Poe"),
        ("Von Ann Lee und Bob Ray", "Ann Lee und Bob Ray"),
        ("by <a>Ann Lee</a> and <a>Bob Ray</a>", "Ann Lee and Bob Ray"),
        ("By <span>Ann Lee</span>, <span>Bob Ray</span>", "Ann Lee, Bob Ray"),
        ("By <span>Ann Lee</span>, <span class=role>Staff Writer</span>", "Ann Lee"),
        ("By <span>Ann Lee</span>, <span>harbours</span>", "Ann Lee"),
        ("By Ann Lee, Staff Writer", "Ann Lee"),
        ("By Ann Lee and others", "Ann Lee"),
    ],
)
def test_all_authors_behind_by(html: str, expected: str) -> None:
    """Several authors are a list that "and" ends, or elements of one kind; other words behind a name are none of it."""
    assert expected == name_of(lxml_html.fragment_fromstring(html, create_parent="div"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><i>Ann</i> and <i>Bob</i></p>", ["Ann", "Bob"]),
        (f"<p><i>Ann</i>{'word ' * 30}</p><p><i>Bob</i></p>", []),
        (f"<p><i>Ann</i>{'word ' * 30}</p><p><i>ANN</i></p>", ["Ann", "ANN"]),
        (f"<i>Eve</i><p><i>Ann</i>{'word ' * 30}</p><p><i>Bob</i></p><b><i>Tom</i></b>", ["Eve"]),
        (f"<p class='main x'><i>Eve</i>{'word ' * 30}</p><p class=more><i>Bob</i></p>", ["Eve", "Bob"]),
        (f"<p class='p1 main'><i>Ann</i>{'word ' * 30}</p><p class='p2 main'><i>Bob</i></p>", []),
    ],
)
def test_names_of_items_are_not_those_of_the_page(html: str, expected: list[str]) -> None:
    """Several items have different names in one place of the template; authors of one text stand side by side."""
    root = lxml_html.fragment_fromstring(html, create_parent="div")

    assert expected == names_of_page([(one.text, one) for one in root.iter("i")])
