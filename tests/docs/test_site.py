"""The site that `make docs` builds: whole, without dead links, and with all that the program knows of itself."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from dbce_spark import config
from dbce_spark.commands import cli
from dbce_spark.model import RejectReason
from tests.support.chromium import chromium
from tests.support.code_blocks import PAGES, ROOT
from tests.support.colour_contrast import contrast

pytest.importorskip("mkdocs", reason="mkdocs is not installed")
from docs import hooks

PAPER = "rgb(248, 248, 248)"  # of blocks of code; that of text is lighter


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site as `make docs` builds it, which fails where a warning is given."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    return folder


def test_every_page_is_there(site: Path) -> None:
    """Pages of docs/, pages that are files of the repository, and pages that are made."""
    named = {Path(page).stem.lower() for page in PAGES} - {"readme"} | {"changelog", "index"}
    made = {Path(name).stem for name in hooks.pages() if not name.startswith("files/")}

    assert {"reference-cli", "reference-configuration", "reference-rejects"} <= made
    assert {*named, *made} <= {one.stem for one in site.glob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Scripts, styles, fonts and pictures lie in the folder."""
    loaded = [
        (page.name, tag)
        for page in site.rglob("*.html")
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", page.read_text(encoding="utf-8"))
        if re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag) and 'rel="canonical"' not in tag
    ]
    styles = [
        one.name for one in site.rglob("*.css") if re.search(r"url\(.?(https?:)?//", one.read_text(encoding="utf-8"))
    ]

    assert [] == loaded
    assert [] == styles


def test_lists_in_lists_are_lists(site: Path) -> None:
    """No line of a text begins with the mark of an item."""
    texts = {
        page.name: re.sub(r"<pre>.*?</pre>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for page in site.glob("*.html")
    }

    assert {} == {
        name: lines for name, text in texts.items() if (lines := re.findall(r"^ *[-*] .*", text, re.MULTILINE))
    }


@pytest.mark.browser
def test_links_and_code_are_dark_enough_to_be_read(site: Path) -> None:
    """Links, the bar of a phone, and words of code have a contrast of 4.5 or more with what is behind them."""
    read = "all => [...new Set(all.map((one) => getComputedStyle(one).color))]"
    with chromium() as browser:
        shown = browser.new_page(viewport={"width": 390, "height": 844})
        shown.goto((site / "index.html").as_uri())
        inks = shown.locator(
            ".rst-content p a, .rst-content li a code, .codehilite span[class]:not(.w), footer"
        ).evaluate_all(read)
        bar = shown.locator(".wy-nav-top").evaluate("one => getComputedStyle(one).backgroundColor")
        lines = shown.locator(".rst-content p a").first.evaluate("one => getComputedStyle(one).textDecorationLine")

    assert [] == [ink for ink in inks if contrast(ink, PAPER) < 4.5]
    assert 4.5 <= contrast("rgb(255, 255, 255)", bar)
    assert "underline" == lines


def test_all_options_are_on_their_page() -> None:
    """Each command has a section, and each of its arguments a row."""
    page = hooks.commands(cli.parser())
    for parser in hooks.leaves(cli.parser()):
        section = page.partition(f"## {parser.prog}\n")[2].partition("\n## ")[0]
        options = [name for name in parser._option_string_actions if name not in ("-h", "--help")]

        assert section
        assert [] == [name for name in options if not re.search(rf"^\| `(?:[^`]*, )?{name}\b", section, re.MULTILINE)]


def test_all_parameters_are_on_their_page_with_a_reason() -> None:
    """Under their names, with a sentence before the next section."""
    page = hooks.configuration()
    listed = {one.partition(" = ")[0] for one in re.findall(r"^#### `(.+)`$", page, re.MULTILINE)}
    sections = re.split(r"^### .+$", page, flags=re.MULTILINE)[1:]

    assert {*names(config.default())} - listed == {"lsh.threshold_by_site"}
    assert [] == [one for one in sections if not re.sub(r"^####.*$", "", one, flags=re.MULTILINE).strip()]


def names(one: Any, before: str = "") -> Iterator[str]:
    """The names of all parameters, as they are set."""
    for field in fields(one):
        value = getattr(one, field.name)
        if is_dataclass(value):
            yield from names(value, f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}"


def test_all_reasons_are_on_their_page_with_a_meaning() -> None:
    """None is a bare word."""
    assert [str(one) for one in RejectReason] == re.findall(r"^\| `(\w+)` \| \S.+ \|$", hooks.rejects(), re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "page", "folder", "expected"),
    [
        ("[a](docs/tables.md#rejects)", "index.md", "", "[a](tables.md#rejects)"),
        ("[a](../CHANGELOG.md)", "method.md", "docs", "[a](changelog.md)"),
        ("[a](../conf/dbce.toml)", "method.md", "docs", "[a](reference-configuration.md)"),
        ("[a](../examples/submit)", "operations.md", "docs", "[a](files/examples/submit.md)"),
        ("[a](Makefile)", "files/x/y.md", "", "[a](../Makefile.md)"),
        ("[a](no-such.md)", "index.md", "", "[a](no-such.md)"),
        ("[a](../../elsewhere)", "index.md", "docs", "[a](../../elsewhere)"),
        ("[a](https://example.org/x) [b](#below)", "index.md", "", "[a](https://example.org/x) [b](#below)"),
    ],
)
def test_a_link_leads_where_the_page_is(text: str, page: str, folder: str, expected: str) -> None:
    """From where the text stands in the repository to where its page stands in the site; the rest stays, and is found
    by MkDocs."""
    assert expected == hooks.relinked(text, page, folder)


def test_a_notebook_is_a_page_of_its_cells() -> None:
    """Text as text, programs as programs."""
    page = hooks.pages()["files/examples/notebook.ipynb.md"]

    assert page.count("~~~~python") > 1
    assert '"cell_type"' not in page
