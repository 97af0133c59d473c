"""Every filter of captures, on a line of an index and on a record alike."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.config import load
from dbce_spark.errors import ConfigError
from tests.support.index_strategies import entries, filters
from tests.support.indexes import (
    DIGEST,
    cdx_line,
    cdxj_line,
    entry,
    found_in,
    micros,
    offsets_in,
    select,
    write_lines,
    write_parquet,
    write_zipnum,
)

PASSES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"surts": ("org,example)/",)}, {}),
    ({"surts": ("http://(org,example",)}, {}),
    ({"surts": ("http://(org,example,",)}, {}),
    ({"surts": ("http://(org,example,",)}, {"urlkey": "org,example,sub)/"}),
    ({"surts": ("http://(org,example,)/",)}, {}),
    ({"surts": ("(org,example,:8080)/",)}, {"urlkey": "org,example:8080)/"}),
    ({"surts": ("org,wikipedia,en)/wiki/mercury_(planet",)}, {"urlkey": "org,wikipedia,en)/wiki/mercury_(planet)"}),
    ({"surts": ("com,", "org,example")}, {}),
    ({"surts": ("org,example",)}, {"urlkey": "example.org/a"}),
    ({"surts": ("org,example",)}, {"urlkey": ""}),
    ({"domains": ("Example.org",)}, {}),
    ({"domains": ("example.co.uk",)}, {"url": "http://a.b.example.co.uk/"}),
    ({"hosts": ("WWW.example.org",)}, {"url": "http://user@www.example.org:8080/"}),
    ({"domains": ("Пример.рф",)}, {"url": "http://www.xn--e1afmkfd.xn--p1ai/"}),
    ({"domains": ("xn--e1afmkfd.xn--p1ai",)}, {"url": "http://www.пример.рф/"}),
    ({"hosts": ("www.пример.рф",)}, {"url": "http://www.xn--e1afmkfd.xn--p1ai/"}),
    ({"mimes": ("Text/HTML",)}, {}),
    ({"mimes": ("text/*",)}, {}),
    ({"mimes": ("application/xhtml+xml",)}, {"mime": "text/plain", "mime_detected": "application/xhtml+xml"}),
    ({"mimes": ("text/html",)}, {"mime_detected": "application/xhtml+xml"}),
    ({"statuses": (404, 200)}, {}),
    ({"since": "2020"}, {}),
    ({"since": "2020-01-02T12:00:00Z", "until": "20200102120000"}, {}),
    ({"until": "202001"}, {}),
    ({"until": "2019"}, {"timestamp": micros("2020-01-01T00:00:00") - 1}),
    ({"since": "2020"}, {"timestamp": micros("2020-01-01T00:00:00")}),
    ({"since": "20200102", "until": "20200102"}, {}),
    ({"languages": ("de",)}, {"languages": ("eng", "deu")}),
    ({"languages": ("ger",)}, {"languages": ("deu",)}),
    ({"digests": (DIGEST.lower().upper(),)}, {}),
    ({"digests": (f"sha1:{DIGEST}",)}, {}),
    ({"urls": (r"/a$", r"\.pdf$")}, {}),
]


@pytest.mark.parametrize(("chosen", "fields"), PASSES)
def test_entry_that_fits(chosen: dict[str, Any], fields: dict[str, Any]) -> None:
    """One of a filter's values is enough, and each filter must be fitted."""
    assert (None, []) == selection(select(**chosen)).match(entry(**fields))


@pytest.mark.parametrize(
    ("name", "chosen", "fields"),
    [
        ("surt", {"surts": ("org,example,",)}, {}),
        ("surt", {"surts": ("http://(org,example,",)}, {"urlkey": "org,examples)/"}),
        ("surt", {"surts": ("com,",)}, {"urlkey": "com.example/", "url": "http://example.org/"}),
        ("domain", {"domains": ("example.org",)}, {"url": "http://example.org.evil.com/"}),
        ("domain", {"domains": ("example.org",)}, {"url": "dns:www.example.org"}),
        ("domain", {"domains": ("example.org",)}, {"url": "http://[broken/"}),
        ("host", {"hosts": ("example.org",)}, {}),
        ("mime", {"mimes": ("image/*",)}, {}),
        ("mime", {"mimes": ("text/html",)}, {"mime": "text/html5"}),
        ("status", {"statuses": (404,)}, {}),
        ("date", {"since": "2020-01-02T12:00:01Z"}, {}),
        ("date", {"until": "20200101"}, {}),
        ("date", {"until": "2019"}, {}),
        ("date", {"until": "2019"}, {"timestamp": micros("2020-01-01T00:00:00")}),
        ("date", {"since": "2020"}, {"timestamp": micros("2020-01-01T00:00:00") - 1}),
        ("language", {"languages": ("de",)}, {"languages": ("eng",)}),
        ("digest", {"digests": ("A" * 32,)}, {}),
        ("url", {"urls": (r"^https:",)}, {}),
        ("sample", {"sample": 1e-9}, {}),
    ],
)
def test_entry_that_does_not_fit(name: str, chosen: dict[str, Any], fields: dict[str, Any]) -> None:
    """It is counted under the filter that refuses it."""
    assert f"select:{name}" == selection(select(**chosen)).refusal(entry(**fields))


@pytest.mark.parametrize(
    ("name", "chosen", "fields"),
    [
        ("mime", {"mimes": ("text/html",)}, {"mime": ""}),
        ("status", {"statuses": (200,)}, {"status": 0}),
        ("language", {"languages": ("deu",)}, {}),
        ("digest", {"digests": ("A" * 32,)}, {"digest": ""}),
    ],
)
def test_entry_that_does_not_say(name: str, chosen: dict[str, Any], fields: dict[str, Any]) -> None:
    """A field that is not declared passes, is reported, and can be checked when the page is read."""
    assert (None, [name]) == selection(select(**chosen)).match(entry(**fields))


@pytest.mark.parametrize("line", [cdx_line, cdxj_line])
def test_revisit_passes_for_its_type(tmp_path: Path, line: Any) -> None:
    """ "warc/revisit" is not the type of a payload: a revisit of a page passes a filter for pages."""
    path = write_lines(
        tmp_path / "index", [line(entry(is_revisit=True, mime="")), line(entry(mime="image/png", offset=9))]
    )

    assert [100] == offsets_in(path, mimes=("text/html",))


@given(st.lists(entries, max_size=8), filters)
def test_counts_add_up(given_entries: list[IndexEntry], chosen: dict[str, Any]) -> None:
    """Every entry is counted once: as selected, or under the filter that refused it."""
    counts, wanted = FilterCounts(), selection(select(**chosen))
    taken = [one for one in given_entries if counts.takes(one, wanted)]

    assert len(given_entries) == counts.read == counts.selected + counts.skipped.total()
    assert len(taken) == counts.selected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(entries, min_size=1, max_size=8), filters)
def test_index_and_records_agree(tmp_path: Path, written: list[IndexEntry], chosen: dict[str, Any]) -> None:
    """Selecting lines of an index of any kind selects what the same filters select of the records' own headers."""
    numbered = [replace(one, offset=nth, length=1) for nth, one in enumerate(written)]
    headers = [
        IndexEntry(url=one.url, timestamp=one.timestamp, digest=one.digest, mime=one.mime, status=one.status)
        for one in numbered
    ]
    ordered = sorted(numbered, key=cdxj_line)
    for old in tmp_path.glob("cdx-*"):
        old.unlink()
    indexes = [
        write_lines(tmp_path / "a.cdx", [" CDX N b a m s k r M S V g", *map(cdx_line, numbered)]),
        write_lines(tmp_path / "a.cdxj", [cdxj_line(one) for one in numbered]),
        write_zipnum(tmp_path, [cdxj_line(one) for one in ordered], per_block=2, shards=2),
        write_parquet(tmp_path / "a.parquet", ordered, rows_per_group=2),
    ]
    wanted = selection(select(**chosen))
    expected = [nth for nth, one in enumerate(headers) if wanted.refusal(one) is None]

    assert [expected] * 4 == [sorted(offsets_in(index, **chosen)) for index in indexes]


@pytest.mark.parametrize(
    "chosen",
    [
        {"since": "yesterday"},
        {"since": "2020", "until": "2019"},
        {"until": "20201301"},
        {"mimes": ("html",)},
        {"mimes": ("*/*",)},
        {"urls": ("(",)},
        {"hosts": ("http://example.org/",)},
        {"hosts": ("example.org:8080",)},
        {"hosts": ("an example",)},
        {"surts": ("",)},
        {"surts": ("org,example)/", "http://(")},
        {"surts": ("http://(,",)},
        {"domains": ("example.org", "example.org/")},
    ],
)
def test_filter_that_is_none(chosen: dict[str, Any]) -> None:
    """The error names the parameter."""
    with pytest.raises(ConfigError, match=r"^select\."):
        selection(select(**chosen))


@pytest.mark.parametrize(
    ("surt", "meant"),
    [
        ("http://www.example.com/a", "com,example)/"),
        ("example.com", "com,example)/"),
        ("COM,example)/", "org,example)/"),
        ("org.example)/", "org,example)/"),
        ("org,example)/a b", "org,example)/"),
    ],
)
def test_start_of_no_key(surt: str, meant: str) -> None:
    """The error has one that is meant; a URL in the path of a key is none of these."""
    with pytest.raises(ConfigError, match=rf"and no key begins so; write {re.escape(meant)}$"):
        selection(select(surts=(surt,)))
    for good in ("org,exa", "org", "org,example:8080)/a", "org,archive)/web/2011/http://example.com/", "dns:a.org"):
        assert (good,) == selection(select(surts=(good,))).prefixes


@pytest.mark.parametrize("digest", ["xyz", "sha1:ABC", f"sha1:{'a1' * 16}", "http://a.example/", "md5:zz"])
def test_digest_that_is_none(digest: str) -> None:
    """The error has one as an example; of known algorithms and of others those are taken that can be one."""
    with pytest.raises(ConfigError, match="which is no digest; write sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"):
        selection(select(digests=(digest,)))
    selection(select(digests=("da39a3ee5e6b4b0d3255bfef95601890afd80709", "2jmj7l5rSw0yVb/vlWAYkK/YBwk=")))
    selection(select(digests=("d41d8cd98f00b204e9800998ecf8427e", f"sha-256:{'0f' * 32}", f"sha512:{'A' * 86}==")))


@pytest.mark.parametrize(
    ("name", "domain"),
    [("www.example.org", "example.org"), ("http://example.co.uk/a", "example.co.uk"), ("*.example.org", "example.org")],
)
def test_domain_that_is_none(name: str, domain: str) -> None:
    """The error has the domain that is meant, and how its host is selected."""
    with pytest.raises(ConfigError, match=rf"no registered domain; write {domain}, or name the host .* by --host"):
        selection(select(domains=(name,)))


@pytest.mark.parametrize(
    "chosen",
    [
        {"domains": ("Example.org", "co.uk", "intranet", "192.0.2.7", "blogs.example")},
        {"hosts": ("WWW.example.org", "intranet", "::1", "192.0.2.7", "my_host.example.org")},
    ],
)
def test_name_that_may_be(chosen: dict[str, Any]) -> None:
    """A domain without a known suffix, a host of one word and an address are names as others are."""
    assert [next(iter(chosen)).removesuffix("s")] == [name for name, _ in selection(select(**chosen)).checks]


@pytest.mark.parametrize("setting", ["select.sample=0.0", "select.sample=1.1", "select.max_wanted=0"])
def test_setting_out_of_its_range(setting: str) -> None:
    """A sample is a share, above none."""
    with pytest.raises(ConfigError, match=r"^select\."):
        load(settings=[setting])


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ()),
        ({"domains": ("example.org",)}, ("org,example)", "org,example,", "org,example:")),
        ({"hosts": ("www.example.org",)}, ("org,example)", "org,example,", "org,example:")),
        ({"surts": ("http://(org,example,)/",), "domains": ("b.com",)}, ("org,example)/",)),
        ({"surts": ("http://(org,example,",)}, ("org,example)", "org,example,", "org,example:")),
        ({"hosts": ("192.0.2.7", "example.org")}, ()),
    ],
)
def test_prefixes(chosen: dict[str, Any], expected: tuple[str, ...]) -> None:
    """An index is narrowed where a filter says how keys begin, and an address, which has many forms, does not."""
    assert expected == selection(select(**chosen)).prefixes


def test_counts_are_added() -> None:
    """Counts of several tasks make one."""
    one, other = FilterCounts(), FilterCounts()
    one.takes(entry(), selection(select(statuses=(404,))))
    other.takes(entry(mime=""), selection(select(mimes=("text/html",))))
    expected = {
        "read": 2,
        "selected": 1,
        "skipped": {"select:status": 1},
        "undeclared": {"mime": 1},
        "faults": {},
    }

    assert expected == (one + other).as_dict()


def test_everything_of_an_index_is_found_without_filters(tmp_path: Path) -> None:
    """No filter, no loss."""
    path = write_lines(tmp_path / "a.cdxj", [cdxj_line(entry(offset=nth)) for nth in range(5)])

    assert 5 == len(found_in(path))
