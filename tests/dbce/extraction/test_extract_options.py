"""Options of a call: what is kept, and how it is written."""

import inspect
import re
from ast import literal_eval
from pathlib import Path
from typing import Any, Unpack, get_args

import pyarrow as pa
import pytest

from dbce_spark import (
    ConfigError,
    ExtractOptions,
    InputError,
    config,
    extract,
    extract_archive,
    extract_pages,
    extract_table,
)
from dbce_spark.dbce.extraction.extract_options import with_options
from tests.support.builders import archive, http, record
from tests.support.code_blocks import ROOT
from tests.support.news_pages import SITE, page

LINKED = page(1).replace("<p>Satz", "<p><a href=/haus>Satz</a>")
KINDS = inspect.get_annotations(ExtractOptions)
ROWS = LINKED.replace(
    "</article>", "<table><tr><th>Ort<th>Zahl<tr><td>Haus<td>100<tr><td>Baum<td>200</table></article>"
)


def test_what_is_doubtful_is_kept_by_recall_first() -> None:
    """Precision keeps a part of what balance keeps, and that a part of what recall keeps; they are not the same."""
    kept = [
        {at for at, block in enumerate(extract(page(1), favor=favor).blocks) if block.label == "content"}
        for favor in ("precision", "balanced", "recall")
    ]

    assert kept[0] <= kept[1] <= kept[2]
    assert kept[0] < kept[2]


def test_the_title_heading_can_be_dropped() -> None:
    """The rest stays."""
    whole, dropped = extract(page(1)), extract(page(1), title="drop")

    assert whole.text == f"Seite 1\n{dropped.text}"


@pytest.mark.parametrize(
    ("options", "gone"), [({"links": "drop"}, "http://news.example.org/haus"), ({"tables": "drop"}, "| Haus | 100 |")]
)
def test_structure_can_be_dropped(options: Any, gone: str) -> None:
    """From Markdown, and the text is the same."""
    kept, dropped = extract(ROWS, SITE + "1", favor="recall"), extract(ROWS, SITE + "1", favor="recall", **options)

    assert gone in kept.markdown
    assert gone not in dropped.markdown
    assert kept.text == dropped.text


def test_all_functions_take_the_same_options(tmp_path: Path) -> None:
    """A page, pages, an archive and a table."""
    archive(tmp_path / "a.warc", record(http(page(1)), url=SITE + "1"))
    expected = extract(page(1), SITE + "1", title="drop", favor="recall").text

    assert [expected] == [one.text for one in extract_pages([(page(1), SITE + "1")], title="drop", favor="recall")]
    assert [expected] == [one.text for one in extract_archive(tmp_path, title="drop", favor="recall")]
    table = pa.table({"html": [page(1)], "url": [SITE + "1"]})
    assert [expected] == extract_table(table, title="drop", favor="recall").column("text").to_pylist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"favour": "recall"}, "there is no option favour; there are content, favor, title, comments, "),
        ({"favor": "all"}, """^favor is 'all'; it must be "precision", "balanced" or "recall"$"""),
        ({"title": False}, """^title is False; it must be "keep" or "drop"$"""),
        ({"links": ["keep"]}, r"""^links is \['keep'\]; it must be "keep" or "drop"$"""),
        ({"comments": "yes"}, "^comments is 'yes'; it must be True or False$"),
        ({"comments": 1}, "^comments is 1; it must be True or False$"),
        ({"classifier": b"a.npz"}, r"^classifier is b'a.npz'; it must be the path of a file, str or PathLike$"),
    ],
)
def test_an_option_that_is_none_is_named(options: Any, message: str) -> None:
    """As it was written, with what there is."""
    with pytest.raises(InputError, match=message):
        extract(page(1), **options)


def test_a_function_that_passes_options_on_is_typed() -> None:
    """Strictly, by names that the package gives: mypy reads this file."""

    def text_of(html: str, **options: Unpack[ExtractOptions]) -> str:
        return extract(html, **options).text

    assert extract(page(1), title="drop").text == text_of(page(1), title="drop")


@pytest.mark.parametrize("path", ["none.npz", Path("none.npz")])
def test_a_classifier_is_a_path(path: Any) -> None:
    """As text or as an object; a file that is none is the error that both have."""
    with pytest.raises(ConfigError, match=r"none\.npz"):
        extract(page(1), classifier=path)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (inspect.getdoc(extract) or "", r"^    (\w+)=([^:]+): (.+(?:\n {8}.+)*)"),
        ((ROOT / "docs/python.md").read_text(encoding="utf-8"), r"^\| `(\w+)` \| `([^`]+)` \| (.+) \|$"),
    ],
    ids=["help", "docs"],
)
def test_each_option_is_shown(text: str, row: str) -> None:
    """In `help(extract)` and in the table of docs/python.md, with its default and each value that it takes."""
    rows = re.findall(row, text, re.MULTILINE)
    given = config.default()
    values = {name: {one for one in get_args(kind) if isinstance(one, str)} for name, kind in KINDS.items()}

    assert {name: getattr(given.label, name, getattr(given.formats, name, None)) for name in KINDS} == {
        name: literal_eval(default) for name, default, _ in rows
    }
    assert [] == [
        (name, value) for name, *shown in rows for value in values[name] if f'"{value}"' not in " ".join(shown)
    ]
    assert ["True"] == [true for name, _, shown in rows if name == "comments" for true in re.findall("True", shown)]


def test_without_options_all_is_as_configured() -> None:
    """Nothing is read anew."""
    assert config.default() is with_options({})
    assert config.default() == with_options({"favor": config.default().label.favor})
