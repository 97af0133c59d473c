"""The archives that are measured lie where they are made, whole, and are made once."""

from pathlib import Path

from benchmarks.scale import scale_archives, shapes
from dbce_spark.archive import warc
from dbce_spark.model import Capture
from tests.support.builders import CONFIG


def read(folder: str) -> list[tuple[Capture, bytes]]:
    return [
        (record.capture, record.html)
        for path in sorted(Path(folder).glob("*.warc.gz"))
        for record in warc.read(str(path), CONFIG.input, CONFIG.page.max_html_bytes)
        if isinstance(record, warc.Fetch)
    ]


def test_a_shape_is_read_back_as_it_was_made(tmp_path: Path) -> None:
    """It has its URLs and bytes, spread over 16 files, and the counts of its archive are right."""
    made = list(shapes.plain(40))
    archive = scale_archives.shaped(tmp_path, "plain", shapes.plain, 40)
    found = read(archive.folder)

    assert [(one.url, one.html.encode()) for one in made] == [(capture.url, html) for capture, html in found]
    assert 14 == len(list(Path(archive.folder).glob("*.warc.gz")))
    assert (sum(len(html) for _, html in found), 40) == (archive.html_bytes, archive.equivalents)


def test_a_sample_has_about_the_requested_captures(tmp_path: Path) -> None:
    """They are pages with HTML; the archive's counts are those that can be read in it."""
    archive = scale_archives.sample(tmp_path, 200, 0)
    found = read(archive.folder)

    assert 150 < len(found) < 250
    assert (sum(len(html) for _, html in found), len(found)) == (archive.html_bytes, archive.equivalents)


def test_crawls_are_of_the_same_pages_at_other_times(tmp_path: Path) -> None:
    """Each has all pages, with bodies of their own; together they are one archive."""
    crawls = scale_archives.crawls(tmp_path, 3, 40, 0)
    found = [read(crawl.folder) for crawl in crawls]
    urls = [{capture.url for capture, _ in some} for some in found]
    whole = scale_archives.together(crawls)

    assert urls[0] == urls[1] == urls[2]
    assert {40} == {crawl.equivalents for crawl in crawls}
    assert 120 == len({(capture.url, html) for some in found for capture, html in some}) == whole.equivalents
    assert 3 == len({capture.timestamp // 86_400_000_000 for some in found for capture, _ in some})
    assert [4, 4, 4] == [len([*Path(whole.folder, name).glob("*.warc.gz")]) for name in ("01", "02", "03")]


def test_an_archive_is_made_once(tmp_path: Path) -> None:
    """A second measurement takes what is there, and makes again what was not made to its end."""
    first = scale_archives.shaped(tmp_path, "plain", shapes.plain, 5)
    (Path(first.folder) / "part-00000.warc.gz").write_bytes(b"kept")
    kept = scale_archives.shaped(tmp_path, "plain", shapes.plain, 5)
    (Path(first.folder) / "made.json").unlink()
    scale_archives.shaped(tmp_path, "plain", shapes.plain, 5)

    assert first == kept
    assert b"kept" != (Path(first.folder) / "part-00000.warc.gz").read_bytes()
