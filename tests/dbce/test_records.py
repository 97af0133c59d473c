"""The law of records, from files to extractions: each is extracted, rejected or skipped, whatever the files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import local
from tests.support.builders import CONFIG, arc_header, arc_record, archive, gzipped, http, read, record

PAGE = "<html><body><ul><li>menu</li></ul><h1>{}</h1><p>text of {}</p><div><b>end</b><i>x</i></div></body></html>"

payloads = st.one_of(
    st.integers(0, 3).map(lambda nth: http(PAGE.format(nth, nth))),
    st.sampled_from(
        [http(""), http(status="404 No"), http("<script>x</script>"), http(content_type="image/png"), b"?"]
    ),
)
addresses = st.sampled_from(["http://a.example/1", "http://a.example/2", "http://b.example/", "dns:a.example"])
records = st.one_of(
    st.builds(lambda block, url: record(block, url=url), payloads, addresses),
    st.builds(lambda kind: record(kind=kind), st.sampled_from(["request", "revisit", "metadata"])),
)
damages = st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=3)


def torn(path: Path, flips: list[tuple[float, int]], kept: float) -> str:
    """Damage a file: some bytes flipped, and its end cut off."""
    content = bytearray(path.read_bytes())
    for where, flip in flips:
        if content:
            content[int(where * (len(content) - 1))] ^= flip
    path.write_bytes(content[: round(len(content) * kept)])
    return str(path)


@given(st.lists(records, max_size=8), st.booleans())
def test_sound_archives(tmp_path_factory: pytest.TempPathFactory, made: list[bytes], zipped: bool) -> None:
    """As many records are read as were written, and each has one outcome; a file without a record is a reject."""
    path = archive(tmp_path_factory.mktemp("sound") / "a", *(gzipped(*made) if zipped else made))
    result = local.extract([path], CONFIG)

    assert (len(made) or 1) == result.records_read
    captures = len(result.extractions) + len(result.revisits)
    assert result.records_read == captures + len(result.rejects) + sum(result.skipped.values())


@given(st.lists(records, min_size=1, max_size=6), st.booleans(), st.booleans(), damages, st.floats(0.3, 1))
def test_torn_archives(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[bytes],
    zipped: bool,
    arc: bool,
    flips: list[tuple[float, int]],
    kept: float,
) -> None:
    """Every record that is read of a damaged file has one outcome, too, and reading it again gives the same."""
    some = [arc_header(), *(arc_record(http(PAGE.format(nth, nth))) for nth in range(len(made)))] if arc else made
    path = tmp_path_factory.mktemp("torn") / "a"
    archive(path, *(gzipped(*some) if zipped else some))
    broken = torn(path, flips, kept)
    result = local.extract([broken], CONFIG)

    assert len(read(broken)) == result.records_read
    captures = len(result.extractions) + len(result.revisits)
    assert result.records_read == captures + len(result.rejects) + sum(result.skipped.values())
