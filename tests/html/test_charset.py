"""Charsets: what is valid, what is declared, what browsers assume."""

import codecs
import re
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from dbce_spark.archive.http_message import decode_body, split
from dbce_spark.html.charset import decode
from dbce_spark.html.charset_detector import FALLBACK


def result(html: bytes, declared: str = "") -> tuple[str, str, str, bool]:
    """(text, charset, source, lossy)"""
    made = decode(html, declared)
    return made.html.decode(), made.charset, made.source, made.lossy


NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What is no Char of XML 1.0 (2.2)."""

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
    """A page of no UTF-8 is decoded as HTTP declares, else as it does itself, else by default; names are WHATWG's."""
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
    """The header decides where page and header disagree, as in browsers."""
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
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
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


PAGE = "<html><head><title>%s</title></head><body><p>%s</p></body></html>"


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("utf-16-le", "utf-16le"),
        ("utf-16-be", "utf-16be"),
        ("utf-32-le", "utf-32le"),
        ("utf-32-be", "utf-32be"),
    ],
)
@pytest.mark.parametrize("words", ["words", "слова и слова", "日本語の文章です"])
def test_wide_characters_without_a_mark(codec: str, name: str, words: str) -> None:
    """UTF-16 and UTF-32 are detected by the zeros of their markup, whatever is declared."""
    page = PAGE % (words, words * 20)

    assert (page, name, "detected", False) == result(page.encode(codec), "iso-8859-1")


@pytest.mark.parametrize(
    ("bom", "codec", "name"),
    [(codecs.BOM_UTF32_LE, "utf-32-le", "utf-32le"), (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32be")],
)
def test_mark_of_four_bytes(bom: bytes, codec: str, name: str) -> None:
    """The mark of UTF-32 begins as that of UTF-16 does, and is not taken for it."""
    assert ("<p>grün", name, "bom", False) == result(bom + "<p>grün".encode(codec), "")


@pytest.mark.parametrize(("codec", "name"), [("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")])
@pytest.mark.parametrize("declared", ["utf-16", "UTF-16LE", "utf-16be"])
def test_wide_characters_with_little_markup(codec: str, name: str, declared: str) -> None:
    """UTF-16 of a script without spaces has few zeros: enough where the header declares it, in whatever order."""
    html = PAGE % ("一个老港口", "一个老港口重新开放" * 400)

    assert (html, name, "detected", False) == result(html.encode(codec), declared)


def test_zeros_are_no_utf16_for_being_declared() -> None:
    """A page of one byte a character may hold zeros, and its header a wrong charset."""
    text, charset, _, _ = result(b"<p>words" + b"\0" * 31 + b"<p>words", "utf-16le")

    assert ("<p>words<p>words", "utf-8") == (text, charset)


def test_last_wide_character_may_be_cut() -> None:
    """A record that ends within a character of UTF-16 loses that character, and no more."""
    cut = codecs.BOM_UTF16_LE + "<p>grün".encode("utf-16-le")[:-1]

    assert ("<p>grü", "utf-16le", "bom", False) == result(cut)


def test_zeros_here_and_there_are_no_utf16() -> None:
    """A page of one byte a character may hold zeros."""
    text, charset, source, _ = result(("<p>привет " * 50).encode("cp1251") + b"\0" * 30 + b"<p>", "windows-1251")

    assert ("<p>привет", "windows-1251", "http") == (text[:9], charset, source)


@pytest.mark.parametrize("label", ["utf-16", "utf-16le", "UTF-16BE", "unicode", "ucs-2"])
def test_utf16_in_a_readable_declaration_means_utf8(label: str) -> None:
    """A declaration of UTF-16 that is readable as ASCII means UTF-8 (WHATWG 13.2.3.2)."""
    html = META % label.encode() + "grün".encode() + b"\xff"

    assert ("utf-8", "meta", True) == result(html)[1:]


def test_x_user_defined_in_the_page_means_windows_1252() -> None:
    """So says the standard."""
    html = META % b"x-user-defined" + "grün".encode("cp1252")

    assert ("windows-1252", "meta", False) == result(html)[1:]


@pytest.mark.parametrize(
    "html",
    [
        b"<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>",
        b"<!--><meta charset=iso-8859-2><!-- --><meta charset=koi8-r>",
        b"<!-- --> charset=koi8-r <meta charset=iso-8859-2>",
        b'<meta name=keywords content="text/html; charset=koi8-r"><meta charset=iso-8859-2>',
        b'<meta name="a" content="a>b" charset=iso-8859-2><meta charset=koi8-r>',
        b"<meta charset=no-such-charset><meta charset=iso-8859-2>",
        b"<metadata charset=koi8-r><meta charset=iso-8859-2>",
        b'<meta content="text/html;charset=iso-8859-2" http-equiv=content-type>',
        b"<meta http-equiv=Content-Type content=text/html;charset=iso-8859-2>",
        b"<meta http-equiv='Content-Type' content='text/html; charset = \"iso-8859-2\"'>",
        b'<meta charset="iso-8859-2" charset="koi8-r">',
        b"<meta/charset=iso-8859-2 />",
        b"<meta\ncharset\n=\niso-8859-2\n>",
        b'<?xml version="1.0" encoding="koi8-r"?><meta charset=iso-8859-2>',
    ],
    ids=[
        "in a comment",
        "comment that ends at once",
        "words behind a comment",
        "keywords",
        "sign in a value",
        "unknown first",
        "another tag",
        "content before its name",
        "no quotes",
        "quotes in quotes",
        "twice",
        "slashes",
        "lines",
        "xml besides",
    ],
)
def test_declaration_among_others(html: bytes) -> None:
    """Only a declaration counts, and of two the first; XML's is the last to be asked."""
    text, charset, source, _ = result(html + "łódź".encode("iso-8859-2"))

    assert ("łódź", "iso-8859-2", "meta") == (text[-4:], charset, source)


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("latin1", "cp1252", "“grün”"),
        ("us-ascii", "cp1252", "“grün”"),
        ("'iso-8859-1'", "cp1252", "“grün”"),
        ("gb2312", "gb18030", "镕基€" + "汉字"),
        ("gbk", "gb18030", "㐀㐁"),
        ("big5", "big5hkscs", "香港嘅"),
        ("x-sjis", "cp932", "①㈱髙﨑"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("koi8-u", "koi8-u", "їжак"),
        ("windows-874", "cp874", "ภาษาไทย"),
        ("iso-8859-8-i", "iso8859-8", "עברית"),
        ("cp866", "cp866", "привет"),
        ("x-mac-cyrillic", "mac-cyrillic", "привет"),
        ("windows-1256", "cp1256", "مرحبا"),
        ("windows-1258", "cp1258", "đ ơ ư"),
    ],
)
def test_labels_mean_what_browsers_mean(label: str, codec: str, words: str) -> None:
    """Labels are read by the standard's table, and decoded with the vendors' characters."""
    text, _, source, lossy = result(f"<p>{words}".encode(codec), label)

    assert (f"<p>{words}", "http", False) == (text, source, lossy)


def test_bytes_that_windows_1252_lacks() -> None:
    """Python has five holes where browsers have control characters: they become spaces, and are no loss."""
    assert ("gr\u00fcn      ", "windows-1252", "http", False) == result(b"gr\xfcn \x81\x8d\x8f\x90\x9d", "iso-8859-1")


def test_bytes_that_no_browser_has() -> None:
    """A byte that the encoding lacks is replaced, and that is said."""
    assert ("τ\ufffd", "windows-1253", "http", True) == result(b"\xf4\xd2", "windows-1253")


@pytest.mark.parametrize(("pair", "char"), [(b"\xad\xa1", "①"), (b"\xad\xea", "㈱"), (b"\xfc\xe2", "髙")])
def test_vendor_characters_of_euc_jp(pair: bytes, char: str) -> None:
    """Rows 13 and 89 to 92 are in no norm, but in every browser."""
    html = "日本語".encode("euc-jp") + pair + b"\x8f\xb0\xa1" + b"\x8e\xb1"

    assert (f"日本語{char}丂ｱ", "euc-jp", "http", False) == result(html, "euc-jp")


def test_euc_jp_with_damage() -> None:
    """A broken pair is replaced, and what follows is read."""
    text, _, _, lossy = result("日本語".encode("euc-jp") * 20 + b"\xad\xff<p>" + "日本".encode("euc-jp"), "euc-jp")

    assert ("<p>日本", True) == (text[-5:], lossy)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("日本".encode("iso-2022-jp"), "日本"),
        (b"\x1b$B-!\x1b(B!", "①!"),
        (b"\x1b(I1\x1b(B1", "ｱ1"),
        (b"\x1b$(D0!\x1b(B", "丂"),
        (b"\x1b$@F|K\\\x1b(J!", "日本!"),
    ],
    ids=["plain", "vendor", "katakana", "supplement", "of 1978"],
)
@pytest.mark.parametrize("declared", ["iso-2022-jp", "csISO2022JP"])
def test_iso_2022_jp(html: bytes, expected: str, declared: str) -> None:
    """All character sets that browsers switch to are read."""
    assert (expected, "iso-2022-jp", "http", False) == result(html, declared)


def test_iso_2022_jp_undeclared() -> None:
    """The escapes of ISO-2022-JP are no accident of ASCII."""
    html = ("<p>" + "日本語" * 5).encode("iso-2022-jp")

    assert ("<p>" + "日本語" * 5, "iso-2022-jp", "detected", False) == result(html)


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", "euc-jp"])
@pytest.mark.parametrize(("meta", "source"), [(META % b"iso-2022-jp", "meta"), (b"", "detected")])
def test_iso_2022_jp_under_the_default_charset_of_a_server(declared: str, meta: bytes, source: str) -> None:
    """A header of another charset makes no ASCII of the escapes: the page's own declaration counts, or they do."""
    text, charset, found, lossy = result(meta + b"\n" + ("<p>" + "日本語" * 5).encode("iso-2022-jp"), declared)

    assert ("日本語" * 5, "iso-2022-jp", source, False) == (text[-15:], charset, found, lossy)


def test_escape_in_a_page_of_utf8() -> None:
    """An escape character alone makes no page Japanese."""
    assert ("grün  日本", "utf-8", "utf8", False) == result("grün \x1b日本".encode(), "iso-8859-1")


@pytest.mark.parametrize(("label", "codec"), [("hz-gb-2312", "hz"), ("iso-2022-kr", "iso2022_kr")])
@pytest.mark.parametrize("where", ["http", "meta"])
def test_seven_bits_that_browsers_gave_up(label: str, codec: str, where: str) -> None:
    """Two charsets that browsers refuse for their scripts' sake are read, where they are declared."""
    words = "汉字" if codec == "hz" else "한국어"
    html = (META % label.encode() if where == "meta" else b"") + b"\n" + words.encode(codec)
    text, charset, source, lossy = result(html, label.upper() if where == "http" else "")

    assert (words, label, where, False) == (text.strip("\n")[-len(words) :], charset, source, lossy)


@pytest.mark.parametrize("where", ["http", "meta"])
def test_utf8_that_has_none(where: str) -> None:
    """A page without one valid character of UTF-8 is not UTF-8, whatever it declares."""
    html = (META % b"utf-8" if where == "meta" else b"") + "<p>“grün”".encode("cp1252")
    text, charset, source, lossy = result(html, "utf-8" if where == "http" else "")

    assert ("“grün”", "windows-1252", "fallback", False) == (text[-6:], charset, source, lossy)


def test_header_that_is_refuted_leaves_the_word_to_meta() -> None:
    """The next claim counts."""
    html = META % b"koi8-r" + "привет".encode("koi8-r")

    assert ("koi8-r", "meta", False) == result(html, "utf-8")[1:]


def test_utf8_with_a_broken_character_stays_utf8() -> None:
    """One valid character to one broken is enough to believe a declaration of UTF-8."""
    assert ("grün \ufffd", "utf-8", "http", True) == result("grün ".encode() + b"\xff", "utf-8")


@pytest.mark.parametrize("name", ["gb18030", "big5", "euc-jp"])
@pytest.mark.parametrize("where", ["http", "meta"])
def test_utf8_by_chance(name: str, where: str) -> None:
    """Some characters that are valid by chance do not make UTF-8 of a page whose other ones are not."""
    codec, words = LETTERS[name]
    html = (META % b"utf-8" if where == "meta" else b"") + (words * 5).encode(codec)
    text, charset, source, lossy = result(html, "utf-8" if where == "http" else "")

    assert (words * 5, name, "detected", False) == (text[-len(words) * 5 :], charset, source, lossy)


def test_long_lines_of_utf8_each_cut() -> None:
    """A program that cut each line within a character leaves UTF-8, though no line of it is whole."""
    html = b"\n".join(["天地玄黄宇宙洪荒".encode()[:-1]] * 8)

    assert ("utf-8", "http", True) == result(html, "utf-8")[1:]


@pytest.mark.parametrize(
    ("http", "meta", "expected"),
    [
        ("iso-8859-1", "koi8-u", ("koi8-u", "meta")),
        ("windows-1251", "koi8-u", ("koi8-u", "meta")),
        ("koi8-u", "windows-1251", ("koi8-u", "http")),
        ("iso-8859-1", "windows-1251", ("windows-1251", "meta")),
    ],
    ids=["default of a server", "wrong header", "wrong page", "both wrong"],
)
def test_detector_decides_between_header_and_page(http: str, meta: str, expected: tuple[str, str]) -> None:
    """Of two declared charsets the page's own goes first only if the letters are those of it."""
    codec, words = LETTERS["koi8-u"]

    assert expected == result(META % meta.encode() + (words * 5).encode(codec), http)[1:3]


@pytest.mark.parametrize("declared", ["", "iso-8859-1", "windows-1251", "gbk"])
def test_utf8_but_for_a_few_bytes(declared: str) -> None:
    """Some broken bytes do not make a whole page garbage, whatever the server's default charset."""
    html = ("schöne grüne Übung " * 20).encode() + b"\xfc"
    text, charset, source, lossy = result(html, declared)

    assert ("schöne grüne Übung", "utf-8", "utf8", True) == (text[:18], charset, source, lossy)


@pytest.mark.parametrize("declared", ["euc-kr", "big5"])
def test_other_charsets_are_refuted_by_most(declared: str) -> None:
    """A page of which most would be replaced is in another charset than it says."""
    html = ("ну и где здесь русский язык? " * 20).encode("koi8-r") + b"\xff\xff" * 400
    _, charset, source, _ = result(html, declared)

    assert source in ("detected", "fallback")
    assert charset != declared


BEYOND_LATIN = [
    "windows-1251", "koi8-u", "windows-1253", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "windows-1255",
    "windows-1256", "windows-874",
]  # fmt: skip


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "us-ascii"])
@pytest.mark.parametrize("name", BEYOND_LATIN)
def test_words_in_other_letters_are_no_windows_1252(name: str, declared: str) -> None:
    """A server's default charset does not make Latin words of another script, whatever header and page declare."""
    codec, words = LETTERS[name]
    html = META % declared.encode() + (words * 5).encode(codec)
    text, charset, source, lossy = result(html, declared)

    assert (words * 5, name, "detected", False) == (text[-len(words) * 5 :], charset, source, lossy)


POLISH = "Zażółć gęślą jaźń, a później źdźbło trawy pójdzie w łąkę. Było późno, więc wziął książkę. "
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, až ho slyšeli všichni v údolí. "


@pytest.mark.parametrize(
    ("codec", "words", "expected"),
    [("iso8859-2", POLISH, "iso-8859-2"), ("cp1250", POLISH, "windows-1250"), ("iso8859-2", CZECH, "iso-8859-2")],
)
def test_signs_within_words_are_no_windows_1252(codec: str, words: str, expected: str) -> None:
    """Letters of Central Europe that would be signs within words, as in "by³", refute a server's default charset."""
    html = (PAGE % (words, words * 5)).encode(codec)

    assert (PAGE % (words, words * 5), expected, "detected", False) == result(html, "iso-8859-1")


@pytest.mark.parametrize(
    "html",
    [
        ("<p>Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. " * 9).encode("cp1252"),
        ("<p>L’été, « déjà »\xa0: où ? Ça brûle, l’œuf naïf… — dès l’août. " * 9).encode("cp1252"),
        b"<p>col\xb7lecci\xf3 " * 40,
        b"<p>\xa0\xa0\xa0\xbb\xa0\xa0\xa0\x95\xa0\xa0 words " * 40,
        b"<p>" + b"\x97" * 80 + b" words " * 9,
        b"<p>" + "Ясно".encode("cp1251"),
    ],
    ids=["german", "french", "catalan", "indents", "line", "four letters"],
)
@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252"])
def test_western_pages_are_left_to_their_declaration(html: bytes, declared: str) -> None:
    """Nothing in Western words, indents, lines and single words of another script refutes what is declared."""
    assert ("windows-1252", "http") == result(html, declared)[1:3]


@pytest.mark.parametrize(
    ("actual", "declared"),
    [("big5", "gb2312"), ("big5", "gbk"), ("big5", "euc-kr"), ("gb18030", "shift_jis")],
)
@pytest.mark.parametrize("where", ["http", "meta"])
def test_private_use_refutes_a_declaration(actual: str, declared: str, where: str) -> None:
    """A charset that leaves many characters to nobody, or has none for them, is not that of the page, if another has
    all."""
    codec, words = LETTERS[actual]
    html = (META % declared.encode() if where == "meta" else b"") + (words * 20).encode(codec)
    text, charset, source, _ = result(html, declared if where == "http" else "")

    assert (words * 20, actual, "detected") == (text[-len(words) * 20 :], charset, source)


def test_pictograms_of_a_telephone_refute_nothing() -> None:
    """Shift_JIS of telephones has pictures where the standard has private use: no other charset has the page."""
    _, words = LETTERS["shift_jis"]
    html = words.encode("cp932") * 20 + b"\xf8\x9f\xf8\xa0\xf9\x40" * 40
    text, charset, source, _ = result(html, "shift_jis")

    assert (words, "shift_jis", "http") == (text[: len(words)], charset, source)


OLDER = "Zwölf Boxkämpfer jagen den Übeltäter über die Straße. "


@pytest.mark.parametrize(
    ("label", "codec", "words", "name"),
    [
        ("ibm850", "cp850", OLDER, "ibm850"),
        ("IBM00858", "cp858", OLDER + "€ ", "ibm858"),
        ("cp437", "cp437", OLDER, "ibm437"),
        ("DOS-862", "cp862", "דג סקרן שט בים מאוכזב ולפתע מצא חברה נחמדה. ", "ibm862"),
        ("ibm852", "cp852", POLISH, "ibm852"),
        ("cp_855", "cp855", "Съешь же ещё этих мягких французских булок. ", "ibm855"),
        ("ibm737", "cp737", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και πάω στην Αθήνα. ", "ibm737"),
        ("x-mac-ce", "mac_latin2", POLISH, "x-mac-ce"),
        ("x-mac-greek", "mac_greek", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και πάω στην Αθήνα. ", "x-mac-greek"),
        ("x-mac-turkish", "mac_turkish", "Pijamalı hasta yağız şoföre çabucak güvendi, İstanbul. ", "x-mac-turkish"),
        ("johab", "johab", "다람쥐 헌 쳇바퀴에 타고파. 입술끼리 만나야 한다. ", "johab"),
        ("cp932", "cp932", "いろはにほへと散りぬるを①㈱髙﨑", "shift_jis"),
        ("ms936", "gbk", "天地玄黄宇宙洪荒日月盈昃", "gbk"),
        ("cp949", "cp949", "다람쥐 헌 쳇바퀴에 똠방각하", "euc-kr"),
        ("cp950", "cp950", "天地玄黃宇宙洪荒日月盈昃", "big5"),
    ],
)
@pytest.mark.parametrize("where", ["http", "meta"])
def test_labels_that_the_standard_lacks(label: str, codec: str, words: str, name: str, where: str) -> None:
    """Charsets of PCs and Macs that the standard leaves out, and pages by their number, are read where declared."""
    html = (META % label.encode() if where == "meta" else b"") + (words * 5).encode(codec)
    text, charset, source, lossy = result(html, label if where == "http" else "")

    assert (words * 5, name, where, False) == (text[-len(words) * 5 :], charset, source, lossy)


@pytest.mark.parametrize("label", ["ibm850", "ibm852", "cp437", "cp737", "x-mac-turkish", "johab"])
@pytest.mark.parametrize("words", [OLDER, "L’été déjà, où ça brûle : l’œuf naïf. "], ids=["german", "french"])
def test_an_older_charset_must_fit_the_words(label: str, words: str) -> None:
    """Editors offered these charsets in a list, and browsers ignore them: Western pages that declare one by mistake are
    read as browsers read them."""
    html = META % label.encode() + (words * 5).encode("cp1252")

    assert (words, "windows-1252") == (result(html)[0][-len(words) :], result(html)[1])


@pytest.mark.parametrize("label", ["ibm037", "cp500", "cp65000", "utf-7", "rot13", "cp1", "850", "ibm9999", "idna"])
def test_other_charsets_of_python_are_none(label: str) -> None:
    """A charset without ASCII, or one that no page has, is not looked up for its name."""
    assert "fallback" == result(META % label.encode() + b"gr\xfcn")[2]


LETTERS = {
    "windows-1251": ("cp1251", "Съешь же ещё этих мягких французских булок, да выпей чаю. "),
    "koi8-u": ("koi8-r", "Съешь же ещё этих мягких французских булок, да выпей чаю. "),
    "windows-1253": ("cp1253", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και πάω στην Αθήνα. "),
    "shift_jis": ("cp932", "いろはにほへと散りぬるを我が世誰ぞ常ならむ。"),
    "euc-jp": ("euc-jp", "いろはにほへと散りぬるを我が世誰ぞ常ならむ。"),
    "gb18030": ("gb18030", "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏。"),
    "big5": ("big5", "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏。"),
    "euc-kr": ("cp949", "다람쥐 헌 쳇바퀴에 타고파. 키스의 고유조건은 입술끼리 만나야 한다. "),
    "windows-1255": ("cp1255", "דג סקרן שט בים מאוכזב ולפתע מצא חברה נחמדה. "),
    "windows-1256": ("cp1256", "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر. "),
    "windows-874": ("cp874", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน "),
    "windows-1252": ("cp1252", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. "),
}


@pytest.mark.parametrize("name", LETTERS)
def test_undeclared_charset_is_detected(name: str) -> None:
    """A page that says nothing is read by its letters."""
    codec, words = LETTERS[name]
    page = PAGE % (words, words * 10)
    text, charset, source, lossy = result(page.encode(codec))

    assert (page, name, "fallback" if name == FALLBACK else "detected", False) == (text, charset, source, lossy)


def test_letters_far_into_the_page_are_found() -> None:
    """The detector looks from the first letter on, not from the first byte."""
    codec, words = LETTERS["koi8-u"]
    html = b"<!-- " + b"x" * 200_000 + b" -->" + (words * 10).encode(codec)

    assert result(html)[1] == "koi8-u"


def test_signs_in_an_english_page_are_no_letters() -> None:
    """Four pound signs make no Polish page."""
    html = b"<p>" + b"\xa310 free bets and more of these words. " * 4

    assert ("windows-1252", "fallback") == result(html)[1:3]


@pytest.mark.parametrize(
    ("letters", "ascii_bytes", "expected"),
    [("Привет", 0, FALLBACK), ("Привет нам", 0, "windows-1251"), ("Привет нам", 12_000, FALLBACK)],
    ids=["six letters", "nine letters", "nine in 12,000 bytes"],
)
def test_few_letters_decide_nothing(letters: str, ascii_bytes: int, expected: str) -> None:
    """The detector is asked from eight letters on, and if they are one byte in a thousand."""
    assert expected == result(b"<p>" + letters.encode("cp1251") + b" " * ascii_bytes)[1]


def test_a_short_page_has_zeros_enough() -> None:
    """Ten zeros in their places are no chance."""
    assert "utf-16le" == result("<p>Frühling".encode("utf-16-le"))[1]


def test_sixteen_letters_are_utf8_but_for_a_few() -> None:
    """So many whole characters are no chance, whatever is declared."""
    assert "utf-8" == result("ü".encode() * 20 + b" \xff", "windows-1251")[1]


CHANGED = "".join(map(chr, range(0x80, 0xA0))) + "\u00ad\u200b\ufeff"
"""Characters that are read as others, or left out."""


@given(
    st.sampled_from(
        ["utf-8", "utf-16-le", "cp1252", "cp1251", "cp932", "euc-jp", "gb18030", "big5hkscs", "cp949", "koi8-r"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=CHANGED), max_size=60),
)
def test_what_was_encoded_is_decoded(codec: str, words: str) -> None:
    """Text that a charset has comes back from it, where it is declared and cannot be UTF-8."""
    html = words.encode(codec, "ignore")
    declared = {
        "cp1252": "windows-1252",
        "cp1251": "windows-1251",
        "cp932": "shift_jis",
        "cp949": "euc-kr",
        "big5hkscs": "big5",  # the Web's Big5; Python's has kana and Cyrillic in other places
    }
    made = decode(html, declared.get(codec, codec))
    if made.source == "http" and not made.lossy:
        assert NO_XML.sub(" ", html.decode(codec).replace("\0", "")) == made.html.decode()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (b"one\x01two", b"one two"),
        (b"one\x0btwo\x0cthree\x1ffour", b"one two three four"),
        (b"one\t\r\ntwo", b"one\t\r\ntwo"),
        ("one\ufffetwo\uffffthree\ufffdfour".encode(), "one two three\ufffdfour".encode()),
        (b"one&#1;two&#x1F;three&#0011four&#xfffE;five&#65535;", b"one two three four five "),
        (
            b"&#9;&#10;&#13;&#xa;&#x0D;&#32;&#100;&#x1f600;&#65533;",
            b"&#9;&#10;&#13;&#xa;&#x0D;&#32;&#100;&#x1f600;&#65533;",
        ),
        (b"&#&#1;1;", b"&# 1;"),
        (b"<p cl\x02ass='a\x03b'>", b"<p cl ass='a b'>"),
        (b"one&#129;two&#x8D;three&#x09d;four&#146;s", b"one two three four&#146;s"),
    ],
)
def test_characters_that_xml_cannot_hold(html: bytes, expected: bytes) -> None:
    """Each becomes a space, also where a reference names it; nothing else changes."""
    assert expected == decode(html, "").html


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-2"])
def test_control_characters_beyond_ascii_are_those_of_windows(declared: str) -> None:
    """They are what references to them mean in HTML; five that mean nothing are spaces."""
    html = "<p title='It\x92s'>It\x92s \x9bx\x85 y\x9dz".encode("utf-8" if declared == "utf-8" else "latin1")

    assert "<p title='It\u2019s'>It\u2019s \u203ax\u2026 y z" == result(html, declared)[0]


@given(
    st.lists(
        st.sampled_from(
            ["&#", "x", "0", "1", "b", "fffe", "65535", ";", "\x01", "\0", "\ufffe", "word", "<p ", ">", "="]
        )
        | st.builds("&#{};".format, st.integers(0, 0x110000))
        | st.builds("&#x{:x};".format, st.integers(0, 0x110000))
        | st.characters()
    ).map("".join),
    st.sampled_from(["utf-8", "utf-16", "utf-32", "cp1252"]),
)
def test_text_of_a_page_is_text_that_xml_can_hold(html: str, codec: str) -> None:
    """Whatever the page says, directly or by reference, and in whatever charset."""
    made = decode(html.encode(codec, "surrogatepass" if codec != "cp1252" else "ignore"), "")
    root = etree.fromstring(made.html or b" ", etree.HTMLParser(encoding="utf-8", recover=True))
    held = [] if root is None else [*root.itertext(), *(text for one in root.iter("*") for text in one.attrib.values())]

    assert [] == [text for text in held if NO_XML.search(text)]


@given(
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b$B", b"<meta charset=", b"<\0h\0t\0m\0l\0>\0", b"~{"]),
    st.binary(max_size=300),
    st.sampled_from(["", "utf-8", "utf-16", "iso-2022-jp", "euc-jp", "hz-gb-2312", "x-user-defined", "windows-1255"])
    | st.text(max_size=12),
)
def test_any_bytes_of_any_charset(start: bytes, rest: bytes, declared: str) -> None:
    """Whatever the bytes and the labels, out comes UTF-8 without zeros, and what was replaced is said."""
    made = decode(start + rest, declared)
    text = made.html.decode("utf-8", "ignore" if made.source == "utf8" else "strict")

    assert "\0" not in text
    assert made.lossy == ("\ufffd" in text) or made.source == "utf8"


@pytest.mark.data
def test_pages_of_a_japanese_crawl(shared_data: Path) -> None:
    """Real pages of EUC-JP are decoded without loss, declared by their header or not at all."""
    (path,) = (shared_data / "warc" / "uraharajuku.st").glob("*.warc.gz")
    with path.open("rb") as stream:
        found = [split(one.reader.read()) for one in ArchiveIterator(stream, WarcRecordType.response, parse_http=False)]
    pages = [
        decode_body(one, max_bytes=1 << 24, max_ratio=1 << 24).html
        for one in found
        if one and one.status == 200 and "euc-jp" in one.headers.get("content-type", "").lower()
    ]
    made = [decode(page.replace(b"charset=EUC-JP", b"").replace(b"charset=euc-jp", b""), "") for page in pages]

    assert len(pages) == 29
    assert {("euc-jp", "http", False)} == {
        (one.charset, one.source, one.lossy) for one in (decode(page, "euc-jp") for page in pages)
    }
    assert {("euc-jp", "detected", False)} == {(one.charset, one.source, one.lossy) for one in made}


def test_a_last_byte_that_could_begin_a_character_proves_nothing() -> None:
    """The declaration decides on a last byte behind nothing but ASCII."""
    found = decode(b"<p>caf\xe9", "latin1")

    assert ("<p>caf\u00e9".encode(), "windows-1252", "http", False) == (
        found.html, found.charset, found.source, found.lossy,
    )  # fmt: skip


def test_character_that_the_end_of_a_record_cut() -> None:
    """It is left out, and the page says that something was lost."""
    found = decode("<p>Gr\u00f6\u00dfe".encode() + b"\xe2\x82", "")

    assert ("<p>Gr\u00f6\u00dfe".encode(), "utf-8", "utf8", True) == (
        found.html, found.charset, found.source, found.lossy,
    )  # fmt: skip
