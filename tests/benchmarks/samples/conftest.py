"""One small sample archive for all tests of this folder."""

import pytest

from benchmarks.samples import write_archive
from tests.support.written_archives import Archive, read


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("samples") / "archive"
    summary = write_archive(folder, pages=160, seed=7)
    return Archive(folder, summary, {path.name: read(path) for path in sorted(folder.glob("*.warc.gz"))})
