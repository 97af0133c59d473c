"""Charsets: what is valid, what is declared, what browsers assume."""

import codecs

import pytest

from dbce_spark.charset import decode


def result(html: bytes, declared: str = "") -> tuple[str, str, str, bool]:
    """(text, charset, source, lossy)"""
    made = decode(html, declared)
    return made.html.decode(), made.charset, made.source, made.lossy


META = b'<meta charset="%s">'


@pytest.mark.parametrize("declared", ["", "utf-8", "iso-8859-1", "shift_jis", "no-such-charset"])
def test_valid_utf8_is_utf8_whatever_is_declared(declared: str) -> None:
    """A declared charset does not spoil a page that is valid UTF-8."""
    expected = ("grün 日本", "utf-8", "utf8", False)
    actual = result("grün 日本".encode(), declared)

    assert expected == actual


@pytest.mark.parametrize(
    ("html", "declared", "expected"),
    [
        ("grün".encode("latin-1"), "iso-8859-1", ("grün", "windows-1252", "http", False)),
        ("привет".encode("cp1251"), "windows-1251", ("привет", "windows-1251", "http", False)),
        ("日本".encode("euc-jp"), "euc-jp", ("日本", "euc-jp", "http", False)),
        ("日本".encode("gb18030"), "gb2312", ("日本", "gbk", "http", False)),
        (
            b'<meta charset="koi8-r">' + "да".encode("koi8-r"),
            "",
            ('<meta charset="koi8-r">да', "koi8-r", "meta", False),
        ),
        ("“ü”".encode("cp1252"), "", ("“ü”", "windows-1252", "fallback", False)),
    ],
    ids=["latin-1", "cyrillic", "japanese", "gb2312 means gbk", "meta", "fallback"],
)
def test_declared_charset(html: bytes, declared: str, expected: tuple[str, str, str, bool]) -> None:
    """What is no UTF-8 is decoded as HTTP says, else as the page says, else as browsers assume; names are WHATWG's."""
    actual = result(html, declared)

    assert expected == actual


@pytest.mark.parametrize(
    "declaration",
    [
        b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">',
        b"<META CHARSET = 'ISO-8859-2' />",
        b"<meta charset=iso-8859-2>",
        b'<?xml version="1.0" encoding="iso-8859-2"?>',
        b'\n<?xml version="1.0" encoding="ISO-8859-2"?>',
    ],
)
def test_declaration_in_the_page(declaration: bytes) -> None:
    """Every way to declare a charset in the page is understood."""
    expected = ("iso-8859-2", "meta", "łódź")
    text, charset, source, _ = result(declaration + "łódź".encode("iso-8859-2"))

    assert expected == (charset, source, text[-4:])


def test_http_goes_before_meta() -> None:
    """Where header and page disagree, the header is believed, as browsers do."""
    expected = ("windows-1251", "http")
    _, charset, source, _ = result(META % b"koi8-r" + "привет".encode("cp1251"), "windows-1251")

    assert expected == (charset, source)


def test_unknown_http_charset_leaves_the_word_to_meta() -> None:
    """A charset that nobody knows counts as none."""
    expected = ("koi8-r", "meta")
    _, charset, source, _ = result(META % b"koi8-r" + "да".encode("koi8-r"), "latin-99")

    assert expected == (charset, source)


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-16be"])
def test_declared_utf16_is_a_lie(declared: str) -> None:
    """A page whose bytes were read as ASCII so far is no UTF-16."""
    expected = ("windows-1252", "fallback")
    _, charset, source, _ = result("grün".encode("latin-1"), declared)

    assert expected == (charset, source)


@pytest.mark.parametrize(
    ("bom", "codec", "name"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
    ],
)
def test_byte_order_mark_has_the_first_word(bom: bytes, codec: str, name: str) -> None:
    """A byte order mark goes before every declaration, and is no part of the text."""
    expected = ("<p>grün 日本</p>", name, "bom", False)
    actual = result(bom + "<p>grün 日本</p>".encode(codec), "iso-8859-1")

    assert expected == actual


def test_byte_order_mark_that_lies() -> None:
    """Behind a lying byte order mark, what cannot be decoded is replaced, and that is said."""
    text, charset, source, lossy = result(codecs.BOM_UTF8 + "grün".encode("latin-1"))

    assert ("gr\ufffdn", "utf-8", "bom", True) == (text, charset, source, lossy)


def test_declared_charset_that_lies_is_lossy() -> None:
    """Bytes outside the declared charset are replaced, and that is said."""
    _, charset, source, lossy = result(b"\x81\xff\xff text", "shift_jis")

    assert ("shift_jis", "http", True) == (charset, source, lossy)


@pytest.mark.parametrize("where", ["http", "meta"])
def test_iso_2022_jp_is_not_taken_for_ascii(where: str) -> None:
    """Escapes make pure ASCII bytes Japanese, where that is declared."""
    html = (META % b"iso-2022-jp" if where == "meta" else b"") + "日本".encode("iso-2022-jp")
    text, charset, source, lossy = result(html, "iso-2022-jp" if where == "http" else "")

    assert ("日本", "iso-2022-jp", where, False) == (text[-2:], charset, source, lossy)


def test_nul_bytes_are_dropped() -> None:
    """NUL would end the page for the parser."""
    assert result(b"one\0 two") == ("one two", "utf-8", "utf8", False)


@pytest.mark.parametrize("cut", [1, 2])
def test_last_character_may_be_cut(cut: int) -> None:
    """A truncated record may end within a character; the page is still UTF-8."""
    html = "grün 日本".encode()[:-cut]
    actual = decode(html, "iso-8859-1")

    assert ("utf-8", "utf8") == (actual.charset, actual.source)


def test_truncated_utf8_parses_to_its_whole_characters() -> None:
    """Behind the cut character nothing is lost, before it neither."""
    actual = decode("<p>grün 日本".encode()[:-1], "").html.decode("utf-8", "ignore")

    assert actual == "<p>grün 日"


def test_declaration_far_into_the_page_is_not_searched() -> None:
    """Only the page's first 4,096 bytes are searched for a declaration."""
    html = b" " * 5000 + META % b"koi8-r" + b"\xc4\xc1"

    assert decode(html, "").source == "fallback"


def test_empty_page() -> None:
    """Nothing is valid UTF-8."""
    assert result(b"") == ("", "utf-8", "utf8", False)
