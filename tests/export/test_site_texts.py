"""Plain text, a file a site."""

import json
import resource
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.export import corpus, site_texts
from dbce_spark.export.site_texts import NO_SITE, SiteText, file_name
from tests.support.builders import config
from tests.support.corpus_outputs import Row, write
from tests.support.exports import exported, extractions, written
from tests.support.sample_output import rows


def page(site: str, url: str = "http://e.org/", time: str = "2020", text: str = "Text.") -> SiteText:
    return SiteText(site=site, url_key=url, time=time, capture_id="a", url=url, text=text)


def text_of(folder: Path, site: str) -> str:
    return (folder / f"{file_name(site, 200)}.txt").read_bytes().decode()


def test_a_page_is_its_time_its_url_and_its_text(tmp_path: Path) -> None:
    """Pages are in order of URL and time, each followed by an empty line."""
    found = [page("e.org", "b", "2021", "Two\nlines"), page("e.org", "b", "2020"), page("e.org", "a", "2022", "😀")]
    site_texts.write([one._replace(capture_id=f"{at}") for at, one in enumerate(found)], str(tmp_path), 200)

    assert "\f2022 a\n😀\n\n\f2020 b\nText.\n\n\f2021 b\nTwo\nlines\n\n" == text_of(tmp_path, "e.org")


def test_a_fraction_of_a_second_comes_behind_the_second(tmp_path: Path) -> None:
    """Times are written with a fraction only where there is one, and in order all the same."""
    times = ["2020-01-02T00:00:00.500000Z", "2020-01-02T00:00:00Z", "2020-01-02T00:00:01Z"]
    site_texts.write([page("e.org", time=time) for time in times], str(tmp_path), 200)

    assert [times[1], times[0], times[2]] == [one.split()[0] for one in text_of(tmp_path, "e.org").split("\f")[1:]]


def test_no_text_can_look_like_the_next_page(tmp_path: Path) -> None:
    """The page break never occurs in a text, and any URL stays on its line."""
    hostile = page("e.org", "http://e.org/\r\n\f2020 \u2028x\u0085\x00", text="A\f2020 http://forged.example/\nB\x00")
    site_texts.write([hostile], str(tmp_path), 200)
    (before, only) = text_of(tmp_path, "e.org").split("\f")
    head, _, rest = only.partition("\n")

    assert "" == before
    assert "2020 http://e.org/%0D%0A%0C2020%20%E2%80%A8x%C2%85%00" == head
    assert "A 2020 http://forged.example/\nB\x00\n\n" == rest


def test_rows_are_pages() -> None:
    """A row of the table gives what is written of it."""
    row = {"site": "e.org", "url_key": "org,e)/", "url": "http://e.org/", "capture_id": "a", "text": "Text."}
    (found,) = site_texts.pages(extractions(row | {"timestamp": datetime(2020, 1, 2, tzinfo=UTC)}), "host")

    assert SiteText("e.org", "org,e)/", "2020-01-02T00:00:00Z", "a", "http://e.org/", "Text.") == found


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("example.org", "example.org"),
        ("", NO_SITE),
        ("_no-site", "%5Fno-site"),
        ("..", "%2E."),
        ("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"),
        ("bücher.example", "b%C3%BCcher.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("Example.ORG", "%45xample.%4F%52%47"),
        ("a%2Fb", "a%252%46b"),
        ("a\x00b\\c:d", "a%00b%5Cc%3Ad"),
        ("~", "%7E"),
    ],
)
def test_a_hostile_site_has_a_harmless_name(site: str, name: str) -> None:
    """No name leads to another folder, is hidden, or is special to a file system."""
    assert name == file_name(site, 200)


def test_long_sites_with_the_same_begin_have_names_of_their_own() -> None:
    """A digest distinguishes names that are cut off, and a name is as long as it may be."""
    names = {file_name(f"{'long.' * 60}{end}", 200) for end in ("one", "two")}

    assert [200, 200] == [len(name) for name in names]


SITES = st.text(st.characters(codec="utf-8"), max_size=90)


@given(SITES, SITES, st.integers(64, 200))
def test_names_are_short_plain_and_of_one_site(one: str, other: str, most: int) -> None:
    """The name of any site is ASCII, short enough and no other's, also in capitals."""
    names = [file_name(site, most) for site in (one, other)]

    assert all(0 < len(name) <= most and name.isascii() and name[0] != "." for name in names)
    assert not set("".join(names)) & set("/\\:\x00 \n*?")
    assert (one == other) == (names[0].upper() == names[1].upper())


def test_thousands_of_sites_need_few_open_files(tmp_path: Path) -> None:
    """Files are written one after the other, though the sites take turns."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    names = [f"{nth:04}.example" for nth in range(1000)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 128), hard))
    try:
        site_texts.write((page(name, url) for url in ("b", "a") for name in names), str(tmp_path), 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert {f"{name}.txt" for name in names} == set(written(tmp_path))
    assert "\f2020 a\nText.\n\n\f2020 b\nText.\n\n" == text_of(tmp_path, names[-1])


@pytest.mark.parametrize(("kind", "names"), [("host", ["a.e.org", "b.e.org"]), ("domain", ["e.org"])])
def test_sites_of_a_corpus_without_them_are_those_of_its_run(tmp_path: Path, kind: str, names: list[str]) -> None:
    """Hosts of one domain lie in several parts, of which each wrote the file of the domain over that before."""
    hosts = ["a.e.org", "b.e.org"]
    parts = {"host": hosts, "domain": ["e.org", "e.org"]}[kind]
    files = {
        f"site_part={at * (kind == 'host')}/part-0000{at}.parquet": [
            Row(name=hosts[at], site=parts[at], host=hosts[at])
        ]
        for at in range(2)
    }
    output = write(tmp_path / "output", files)
    report = json.loads((tmp_path / "output" / "run.json").read_text())
    (tmp_path / "output" / "run.json").write_text(json.dumps(report | {"config": {"input": {"site": kind}}}))
    request = corpus.CorpusRequest(output=output, target=str(tmp_path / "corpus"), columns=["url", "timestamp", "text"])
    corpus.write(request, replace(config().corpus, min_words=0))
    found = written(exported(tmp_path / "corpus", tmp_path / "out", "text"))

    assert {"export.json", *(f"{name}.txt" for name in names)} == set(found)
    assert 2 == sum(data.count(b"\f") for data in found.values())


def test_each_site_of_an_output_has_a_file_with_its_texts(extracted: Path, tmp_path: Path) -> None:
    """All main texts of the sample are in the files of their sites, and nothing else is."""
    folder = exported(extracted, tmp_path / "out", "text")
    texts_by_file: dict[str, list[str]] = {}
    for row in rows(extracted, "extractions", ["site", "text"]):
        texts_by_file.setdefault(f"{row['site']}.txt", []).append(row["text"])
    found = {name: data.decode().split("\f")[1:] for name, data in written(folder).items() if name != "export.json"}

    assert {name: sorted(texts) for name, texts in texts_by_file.items()} == {
        name: sorted(one.partition("\n")[2].removesuffix("\n\n") for one in pages) for name, pages in found.items()
    }
