"""Pages made to keep a parser busy, or to fill a machine: each ends as a page or with a reason, in bounded memory."""

import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from tests.support.builders import CONFIG, config
from tests.support.fork_server import forks

if sys.platform != "win32":
    import resource

MOST = 640 << 20
"""Bytes that a page of the allowed size may take to parse: 45 for each of its bytes where its words are hashed, and
what libxml2 holds beside them."""

LIMIT = 300.0
"""Seconds after which a page counts as hung, however busy the machine is."""

SECONDS = CONFIG.page.max_seconds / 3
"""Seconds of processor time that a page may take, far from those after which a worker gives it up. The slowest takes
two."""

SIZE = CONFIG.page.max_html_bytes
TAGS = CONFIG.page.max_tags


def nested(tag: str, times: int) -> bytes:
    return f"<{tag}>".encode() * times


def numbered(pattern: str, times: int) -> bytes:
    return "".join(pattern.replace("#", str(nth)) for nth in range(times)).encode()


def filled(start: bytes, unit: bytes) -> bytes:
    """Repeat a unit up to the length that a page may have."""
    return start + unit * ((SIZE - len(start)) // len(unit))


def tagged(start: bytes, unit: bytes) -> bytes:
    """Repeat a unit up to the number of tags that a page may have."""
    return start + unit * ((TAGS - start.count(b"<")) // unit.count(b"<"))


PAGE = "a page"
PAGES: dict[str, tuple[str, Callable[[], bytes]]] = {
    # Depth.
    "nested_divs": ("too_deep", lambda: nested("div", 90_000) + b"x" + nested("/div", 90_000)),
    "unclosed_bold": ("too_deep", lambda: nested("b", 100_000) + b"x"),
    "unclosed_font": ("deep", lambda: b"x" + b"<font>x" * 100_000),
    "nested_tables": ("deep", lambda: b"x" + b"<table><tr><td>x" * 30_000),
    "nested_rows_of_data": ("too_many_tokens", lambda: filled(b"<table><tr><td>x<td>x<td>" * 650, b"x ")),
    "dropped_and_deep": ("deep", lambda: b"<p>x</p>" + nested("noscript", 3_000) + b"x"),
    "for_readers_without_scripts": (
        "paths_too_long",
        lambda: nested("noscript", 1_900) + b"<noscript>x</noscript>" * 90_000,
    ),
    "frame_sets": ("too_deep", lambda: nested("frameset", 100_000)),
    # Depth times width.
    "wide_and_deep": ("paths_too_long", lambda: tagged(nested("div", 2_000), b"<p>x")),
    "tags_and_deep": ("paths_too_long", lambda: nested("b", 2_000) + numbered("<t#>x</t#>", 90_000)),
    "breaks_and_deep": ("too_many_tokens", lambda: tagged(nested("b", 2_000), b"<br>x")),
    "combs": (PAGE, lambda: (nested("i", 2_000) + b"x" + nested("/i", 2_000)) * 49),
    "combs_of_blocks": (
        "paths_too_long",
        lambda: (nested("section", 2_000) + b"x" + nested("/section", 2_000)) * 49,
    ),
    "ends_of_nothing_behind_deep": ("too_deep", lambda: tagged(nested("b", TAGS // 2), b"</div >   ") + b"x"),
    "ends_of_nothing_and_deep": (PAGE, lambda: tagged(nested("div", 2_000) + b"x", b"</b>")),
    # Attributes.
    "attributes": ("too_many_attributes", lambda: b"<p " + numbered("a#=1 ", 100_000) + b">x"),
    "attributes_quoted": ("too_many_attributes", lambda: b"<p " + numbered("a#='1'", 100_000) + b">x"),
    "attributes_with_ends": ("too_many_attributes", lambda: b"<p " + numbered("a#='>'", 100_000) + b">x"),
    "attributes_of_root": (PAGE, lambda: numbered("<html a#=1>", 20_000) + b"x"),
    "attribute_again": (PAGE, lambda: b"<p " + b"a " * 1_000_000 + b">x"),
    "attributes_everywhere": (PAGE, lambda: (b"<p " + numbered("a#=1 ", 900) + b">x</p>") * 100),
    "attribute_of_10_mb": (PAGE, lambda: filled(b"<p>x<p class=", b"a")),
    "attribute_never_closed": ("no_text", lambda: filled(b"<p title='x", b"a>")),
    # Tags.
    "angle_brackets": ("too_many_tags", lambda: b"<" * (1 << 20)),
    "breaks": ("too_many_tags", lambda: b"<br>" * 1_000_000),
    "breaks_between_nothing": (PAGE, lambda: tagged(b"word<p>", b"<sub></sub><br>") + b"word"),
    "options": (PAGE, lambda: b"<p>x<select>" + b"<option>x" * 50_000),
    "links": ("deep", lambda: tagged(b"", b"<a href=x>x<p>")),
    "unclosed_links": ("no_text", lambda: b"<a>" * 100_000),
    "classes": ("too_many_blocks", lambda: numbered("<div class=c#>x</div>", 90_000)),
    "kinds_of_tags": (PAGE, lambda: numbered("<t#>x</t#>", 90_000)),
    "bold_across_paragraphs": ("too_many_blocks", lambda: tagged(b"", b"<b><p>x")),
    "paragraphs": ("too_many_blocks too_many_tokens", lambda: tagged(b"", b"<p>x")),
    # Text.
    "one_word": (PAGE, lambda: filled(b"<p>", b"a")),
    "short_words": ("too_many_tokens", lambda: filled(b"<p>", b"a ")),
    "ampersands": (PAGE, lambda: filled(b"<p>", b"&")),
    "references": (PAGE, lambda: filled(b"<p>", b"&amp;")),
    "soft_hyphens": (PAGE, lambda: filled(b"<p>", b"ab\xc2\xad")),
    "references_to_soft_hyphens": ("no_text", lambda: filled(b"<p>", b"&shy;")),
    "spaces_of_no_width": ("too_many_tokens", lambda: filled(b"<p>", "\u0e01\u200b".encode())),
    "white_space": ("no_text", lambda: filled(b"<p>", b" \n")),
    "nul": (PAGE, lambda: filled(b"<p>x", b"\0")),
    "nul_between": ("too_many_blocks", lambda: b"<p>x\0</p>" * 90_000),
    "text_of_50_mb": ("too_large", lambda: b"<p>" + b"word " * (10 << 20)),
    "page_of_200_mb": ("too_large", lambda: b"<p>some words</p>\n" * ((200 << 20) // 18)),
    # Never closed.
    "comment": (PAGE, lambda: filled(b"<p>x<!--", b"a ")),
    "comments": ("too_many_tags", lambda: filled(b"<p>x", b"<!--")),
    "script": (PAGE, lambda: filled(b"<p>x<script>", b"a ")),
    "cdata": (PAGE, lambda: filled(b"<p>x<![CDATA[", b"a ")),
    "tag": ("no_text", lambda: filled(b"<p ", b"a ")),
    "name": ("no_text", lambda: filled(b"<!----><", b"a")),
    "title": ("too_many_tags", lambda: b"<title>" + b"<a>x" * 1_000_000),
    "titles": ("no_text", lambda: tagged(b"", b"<title>x")),
    "tags_of_titles": ("no_text", lambda: filled(b"<title " * 20_000, b"a ")),
    # Without a tag.
    "signs": (PAGE, lambda: b"x" + b"<" * TAGS),
    "lines": ("too_many_tokens", lambda: filled(b"<x", b"a\n")),
    "slashes": ("no_text", lambda: filled(b"<p ", b"/")),
}


def outcome_of(html: bytes) -> str:
    """Return PAGE, its flags, or the reason for which there is none."""
    try:
        return " ".join(parse(html, "", CONFIG.page).flags) or PAGE
    except PageError as error:
        return error.reason


def peak() -> int:
    """Return the bytes of memory that this process had at most."""
    status = Path("/proc/self/status")
    if status.exists():  # here getrusage counts what the parent had when this process began
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def serve(name: str, pipe: Connection) -> None:
    html = PAGES[name][1]()
    before, started = peak(), time.process_time()
    found = outcome_of(html)
    pipe.send((found, peak() - before, time.process_time() - started))


@pytest.mark.parametrize("name", PAGES)
def test_hostile_page(name: str) -> None:
    """Parsed in a process of its own, it ends, takes no more memory and time than allowed, and has its reason."""
    pipe, far_end = forks().Pipe()
    process = forks().Process(target=serve, args=(name, far_end), daemon=True)
    process.start()
    far_end.close()
    try:
        assert pipe.poll(LIMIT), "it hangs"
        found, memory, seconds = pipe.recv()  # EOFError: the process is dead
    finally:
        process.kill()
        process.join()
        process.close()
        pipe.close()

    assert PAGES[name][0] == found
    assert memory <= MOST, f"{memory >> 20} MiB"
    assert seconds <= SECONDS


@pytest.mark.parametrize(
    ("setting", "within", "beyond", "expected"),
    [
        ("max_html_bytes=9", b"<p>a b cd", b"<p>a b c d", "too_large"),
        ("max_tags=2", b"<p>a<p>b", b"<p>a<p>b<p>c", "too_many_tags"),
        ("max_blocks=2", b"<p>a<p>b", b"<p>a<p>b<p>c", "too_many_blocks"),
        ("max_tokens=3", b"<p>a b c", b"<p>a b c d", "too_many_tokens"),
        ("max_path_chars=135", b"<ul>a<ul>b", b"<ul>a<ul>b<ul>c", "paths_too_long"),
    ],
)
def test_limit(setting: str, within: bytes, beyond: bytes, expected: str) -> None:
    """Each limit has its own reason, and what stays within it is a page."""

    def found(html: bytes) -> str:
        try:
            return " ".join(parse(html, "", config(f"page.{setting}").page).flags)
        except PageError as error:
            return error.reason

    assert ("", expected) == (found(within), found(beyond))


SOUP = st.lists(
    st.one_of(
        st.sampled_from(
            "<p> </p> <div class=a id=b> </div> <b> </b> <i> </i> <a href='#x' rel=ugc> </a> <table> <tr> <td> </table>"
            " <ul> <li> </ul> <br> <pre> </pre> <script> </script> <style> <select> <option> </select> <textarea>"
            " </textarea> <svg> </svg> <math> <title> </title> <head> </head> <body> </body> <html> </html> <frameset>"
            " <noscript> <template> <object> <form> </form> <!-- --> <![CDATA[ ]]> <? ?> <!doctype <o:p> <p/ <\" ' = >"
            " &amp; &#0; &#x110000; &nbsp &unknown; \0 \x1b \ufeff \ud7ff 本 words <input <plaintext> <xmp>".split(" ")
        ),
        st.text(max_size=3),
    ),
    max_size=40,
)
"""Pieces of markup in any order."""


@given(SOUP)
def test_tag_soup(pieces: list[str]) -> None:
    """Whatever is thrown together is a page or has a reason."""
    assert isinstance(outcome_of(" ".join(pieces).encode("utf-8", "surrogatepass")), str)


@given(st.binary(max_size=400))
def test_any_bytes(html: bytes) -> None:
    """So do bytes that are no markup at all."""
    assert isinstance(outcome_of(html), str)
