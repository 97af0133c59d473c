"""Addresses of links and images."""

import pytest
from lxml import html as lxml_html

from dbce_spark.html.structure.addresses import Addresses, addresses, encoded, image_source

HERE = Addresses("http://a.example/b/c?d")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("x y", "http://a.example/b/x%20y"),
        ("//o.example/x", "http://o.example/x"),
        ("#part", "http://a.example/b/c?d#part"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        (" java\nscript:x()", None),
        ("data:text/html,x", None),
        ("vbscript:x", None),
        ("http://[x", None),
        ("", None),
        ("x" * 5000, None),
        ("i\\a b.gif?c\\d#e\\f", "http://a.example/b/i/a%20b.gif?c%5Cd#e%5Cf"),
        ("http:\\\\o.example\\x", "http://o.example/x"),
        ("\\x", "http://a.example/x"),
    ],
)
def test_links_are_absolute_and_safe(reference: str, expected: str | None) -> None:
    """A link that acts, or is no address, is none."""
    assert expected == HERE.link(reference)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://例子.测试:80/路?é#ü", "http://xn--fsqu00a.xn--0zwm56d:80/%E8%B7%AF?%C3%A9#%C3%BC"),
        ("https://ann:b@www.Пример.рф", "https://ann:b@www.xn--e1afmkfd.xn--p1ai"),
        ("http://a.example/?to=http://пример.рф/", "http://a.example/?to=http://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84/"),
        ("http://..é/", "http://..%C3%A9/"),
        ("mailto:é@a.example", "mailto:%C3%A9@a.example"),
    ],
)  # fmt: skip
def test_addresses_are_written_as_they_are_sent(address: str, expected: str) -> None:
    """A host in another script has a form in ASCII of its own, which programs resolve; what is no host has none."""
    assert expected == encoded(address)


@pytest.mark.parametrize(
    ("url", "reference", "expected"),
    [
        ("http://w.example/1/http://a.example/b/c", "../d", "http://w.example/1/http://a.example/d"),
        ("http://w.example/b", "c///d//?x//y", "http://w.example/c///d//?x//y"),
        ("http://w.example/b//c", "//o.example//x", "http://o.example//x"),
        ("http://w.example/b", "c//../d", "http://w.example/c/d"),
    ],
    ids=["of the page", "of the link", "behind a host", "above"],
)
def test_empty_segments_of_a_path_stay(url: str, reference: str, expected: str) -> None:
    """Addresses in archives have them: /2012/http://a.example/."""
    assert expected == Addresses(url).link(reference)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("<img src=a.png>", "a.png"),
        ("<img src=data:image/gif;base64,R0 data-src=b.png>", "b.png"),
        ("<img src=/blank.gif data-original=b.png>", "b.png"),
        ("<img data-srcset='s.png 300w, l.png 900w'>", "l.png"),
        ("<img srcset='s.png 1x, l.png 2x'>", "l.png"),
        ("<img srcset='s.png 300w,l.png 600w'>", "l.png"),
        ("<img srcset='s.png 1x, m.png 2x,l.png 3x'>", "l.png"),
        ("<img srcset='s,1.png, l,2.png 2x'>", "l,2.png"),
        ("<picture><source srcset='p.webp 2x'><img></picture>", "p.webp"),
        ("<img alt=x>", None),
        ("<img src=javascript:x()>", None),
        ("<img src='#'>", None),
        ("<img src='#' data-src=b.png>", "b.png"),
        ("<picture><source srcset='#, # 2x'><img></picture>", None),
        ("<img src=data:image/png;base64,iV data-img-url=i/b.png?x>", "i/b.png?x"),
        ("<img src=i/none.gif file=i/b.jpg>", "i/b.jpg"),
        ("<img src=i/clear.gif data-title='a/b c.png' data-name=b.png>", "i/clear.gif"),
        ("<img src=1.gif data-pagespeed-lazy-src=b.png>", "b.png"),
        ("<img src=a.png data-url=page data-large-file=i/b.png>", "a.png"),
        ("<img src=blank.gif data-url=/page>", "blank.gif"),
        ("<img src=a.png data-src='a_{width}.png'>", "a.png"),
        ("<img src='{{ item.image }}'>", None),
    ],
)
def test_a_lazy_image_has_its_real_source(image: str, expected: str | None) -> None:
    """A placeholder is none where the page names another."""
    (element,) = lxml_html.fromstring(f"<div>{image}</div>").iter("img")

    assert (expected and f"http://a.example/b/{expected}") == image_source(element, HERE)


@pytest.mark.parametrize(
    ("base", "url"), [("a/" * 3_000, "http://a.example/"), ("", f"http://a.example/{'a' * 5_000}")]
)
def test_nothing_is_relative_to_what_is_no_address(base: str, url: str) -> None:
    """A base, or a URL, as long as a book; absolute links stay."""
    root = (
        lxml_html.document_fromstring(f"<base href='http://b.example/{base}'><p>a") if base else lxml_html.Element("p")
    )
    found = addresses(root, url)

    assert [None, "http://c.example/"] == [found.link("b"), found.link("http://c.example/")]


def test_spaces_around_the_address_of_a_page_are_none_of_it() -> None:
    """A list of addresses may have them, such as its line ends."""
    assert "http://a.example/b" == addresses(lxml_html.Element("p"), " http://a.example/c\n").link("b")


def test_the_base_of_a_page_counts() -> None:
    """It may be relative to the page itself."""
    root = lxml_html.document_fromstring("<head><base href=/z/></head><body>x")

    assert Addresses("http://a.example/z/") == addresses(root, "http://a.example/b/c")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("../b/c d.html?x#y", "../b/c%20d.html?x#y"),
        ("/x", "/x"),
        ("//host.example/x", "//host.example/x"),
        ("#part", "#part"),
        ("?x=1", "?x=1"),
        ("http://c.example/", "http://c.example/"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("\x01 java\tscript:x()", None),
        ("JavaScript:x()", None),
        ("data:text/html,x", None),
        ("file:///etc/x", None),
        ("http:x", None),
        ("x\\y", "x/y"),
        ("javascript&#58;x()", "./javascript&#58;x()"),
        ("java_script:x()", "./java_script:x()"),
        ("javascript\\:x()", "javascript/:x()"),
        ("\x01", None),
    ],
)
def test_relative_references_stay_as_written_where_nothing_is_known(reference: str, expected: str | None) -> None:
    """None that acts, in Markdown neither, which reads entities."""
    root = lxml_html.document_fromstring("<p>a")

    assert expected == addresses(root, "", keeps_relative=True).link(reference)


@pytest.mark.parametrize(
    ("image", "expected"),
    [("i/a.png", "i/a.png"), ("//c.example/a", "//c.example/a"), ("data:image/gif;base64,R0", None), ("#", None)],
)
def test_relative_images_stay_as_written_where_nothing_is_known(image: str, expected: str | None) -> None:
    """Places of the page itself are no images."""
    assert expected == Addresses("", keeps_relative=True).image(image)


@pytest.mark.parametrize(
    ("head", "url", "expected"),
    [
        ("<link rel=canonical href=http://a.example/b/c>", "", "http://a.example/b/x"),
        ("<meta property=og:url content=http://a.example/b/>", "a.example/other", "http://a.example/b/x"),
        ("<link rel=canonical href=http://a.example/b/c>", "http://o.example/d", "http://o.example/x"),
        ("<link rel=canonical href=/b/c>", "", "x"),
        ("<base href=/z/>", "", "/z/x"),
        ("<base href=/z/><link rel=canonical href=http://a.example/b/c>", "", "http://a.example/z/x"),
        ("", "a.example/other", "x"),
    ],
)
def test_a_page_without_an_url_has_the_one_that_it_declares(head: str, url: str, expected: str) -> None:
    """If that is absolute: a relative one is relative to what nobody knows."""
    root = lxml_html.document_fromstring(f"<head><title>t</title>{head}</head><body>x")

    assert expected == addresses(root, url, keeps_relative=True).link("x")


def test_places_of_a_page_without_an_url_are_its_own() -> None:
    """Places of other pages are not."""
    page = Addresses("", keeps_relative=True)

    assert [True, False, False] == [page.is_own("#x"), page.is_own("b.html#x"), page.is_own("http://a.example/#x")]
