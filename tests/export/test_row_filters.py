"""Filters of rows: which each keeps, and what is reported where none is left."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from dbce_spark import config
from dbce_spark.config import RowsConfig
from dbce_spark.errors import ConfigError, InputError, OutputError
from dbce_spark.export import row_filters
from dbce_spark.export.export_settings import settings
from dbce_spark.output.schemas import extraction_rows

ALL = settings({}).filters
TIMES = [datetime(2009, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2010, 1, 1, tzinfo=UTC), None]


def kept(column: str, values: list[Any], wanted: RowsConfig) -> list[bool]:
    """Mark what the one filter of a configuration keeps of the values of its column."""
    (one,) = row_filters.chosen(wanted, "filters")
    field = extraction_rows.EXTRACTIONS.field(column)
    batch = pa.RecordBatch.from_arrays([pa.array(values, field.type)], [column])
    mask: list[bool] = one.marks(batch).tolist()

    assert one.column == column
    assert mask[1:] == one.marks(batch.slice(1)).tolist()
    return mask


@pytest.mark.parametrize(
    ("column", "values", "expected", "wanted"),
    [
        ("site", ["example.org", "example.com"], [True, False], replace(ALL, sites=("Example.org",))),
        ("site", ["xn--e1afmkfd.xn--p1ai", "example.org"], [True, False], replace(ALL, sites=("Пример.рф",))),
        ("timestamp", TIMES, [False, True, False], replace(ALL, since="2010")),
        ("timestamp", TIMES, [True, False, False], replace(ALL, until="2009-12")),
        ("timestamp", TIMES[:2], [False, True], replace(ALL, since="20100101", until="2010")),
        ("status", ["crossed", "single"], [True, False], replace(ALL, statuses=("crossed",))),
        ("page_type", ["article", "page", "form", None], [True, True, False, False],
         replace(ALL, page_types=("Article", "page"))),
        ("flags", [["deep"], ["deep", "damaged"], [], None, ["truncated"]], [True, False, True, True, False],
         replace(ALL, without_flags=("truncated", "damaged"))),
        ("confidence", [0.899, 0.9, 0.901, None], [False, True, True, False], replace(ALL, min_confidence=0.9)),
        ("text_words", [49, 50, 51], [False, True, True], replace(ALL, min_words=50)),
    ],
)  # fmt: skip
def test_what_a_filter_keeps(column: str, values: list[Any], expected: list[bool], wanted: RowsConfig) -> None:
    """Rows with a value that fits; one without a value does not."""
    assert expected == kept(column, values, wanted)


@pytest.mark.parametrize("spelling", ["de", "DE", "deu", "ger", "de-AT", "de_CH"])
def test_a_language_has_many_names(spelling: str) -> None:
    """Each keeps the same texts: not those in another, in none, or too short to tell."""
    assert [True, False, False, False] == kept("language", ["de", "da", "zxx", ""], replace(ALL, languages=(spelling,)))


def test_a_language_of_two_scripts_is_one() -> None:
    """So are a language and its regions."""
    assert [True, False, True] == kept("language", ["zh", "ja", "en"], replace(ALL, languages=("zho", "zh-TW", "eng")))


def test_what_would_keep_all_is_no_filter() -> None:
    """Neither what is shipped for an export, nor both statuses."""
    assert [] == row_filters.chosen(ALL, "filters")
    assert [] == row_filters.chosen(replace(ALL, statuses=("single", "crossed")), "filters")


@pytest.mark.parametrize("dates", [{"since": "may"}, {"until": "2010-13"}, {"since": "2011", "until": "2010"}])
def test_dates_that_are_none_are_refused(dates: dict[str, str]) -> None:
    """The error names the parameter in its section."""
    with pytest.raises(ConfigError, match=rf"^corpus\.{next(iter(dates))}"):
        row_filters.chosen(replace(ALL, **dates), "corpus")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "site"), [("www.example.org", "example.org"), ("http://example.org/", "example.org")])
def test_a_site_that_can_be_none_is_refused(name: str, site: str) -> None:
    """By the name that it has; where sites are hosts, or nobody knows, any name may be one."""
    with pytest.raises(InputError, match=rf"^--site {name}: a site of out is a registered domain; write {site}$"):
        row_filters.check_sites(["example.com", name], "out", {"config": {"input": {"site": "domain"}}})
    for run in ({}, {"config": {"input": {"site": "host"}}}):
        row_filters.check_sites([name], "out", run)


def test_columns_that_filters_read_must_be_there() -> None:
    """The error names all that lack, and options that need none of them, if that is enough."""
    filters = row_filters.chosen(replace(ALL, languages=("de",), min_words=3), "filters")
    row_filters.check_columns(filters, "out", ["language", "text_words"])
    with pytest.raises(OutputError, match=r"has no column language, text_words; .*; or give no --language, --min-word"):
        row_filters.check_columns(filters, "out", ["url"])
    with pytest.raises(OutputError, match=r"has no column url, language; a corpus has them where .* output again$"):
        row_filters.check_columns(filters, "out", ["text_words"], ["url"])


def test_where_nothing_is_left_the_values_are_listed() -> None:
    """They stand behind what each filter removed, the most frequent first."""
    filters = row_filters.chosen(replace(ALL, languages=("fr",), min_words=3), "filters")
    batch = pa.RecordBatch.from_pydict({"language": ["de", "en", None, "en", ""], "text_words": [9, 9, 9, 9, 0]})
    values: row_filters.Values = {}
    row_filters.count_values(values, batch, filters)
    row_filters.count_values(values, batch.slice(0, 2), filters)

    assert {"language": Counter({"en": 3, "de": 2})} == values
    assert (
        "out: none of its 7 rows is left, so nothing is written; removed are 6 by language, 1 by words; language is"
        " en (3), de (2)"
    ) == str(row_filters.nothing_left("out", {"language": 6, "words": 1}, values))
    of_none = row_filters.nothing_left("out", {"page_type": 1}, {"page_type": Counter()})
    assert "removed are 1 by page_type; page_type is unknown" in str(of_none)


def test_an_output_without_rows_has_none_to_filter() -> None:
    """No filter has removed any: the report says why there are none."""
    assert "out has no extractions, so nothing is written; `dbce report out` shows what was read" == str(
        row_filters.nothing_left("out", {"words": 0}, {})
    )


def test_a_flag_that_no_page_has_is_refused() -> None:
    """A corpus without `truncatd` pages had all that are cut."""
    assert settings({"filters.without_flags": ["truncated", "deep"]})
    with pytest.raises(ConfigError, match=r"^filters.without_flags is 'truncatd'; it must be one of charset_errors, "):
        settings({"filters.without_flags": ["truncatd"]})
    with pytest.raises(ConfigError, match=r"^corpus.without_flags is 'truncatd'; it must be one of charset_errors, "):
        config.load(given={"corpus.without_flags": ["truncatd"]})
