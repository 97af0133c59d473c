"""An archive and the output of a run over it, for the tests of the report."""

from pathlib import Path

import pytest

from tests.support.report_outputs import crawl, write_archive, write_output


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Write a small archive of two templates."""
    return write_archive(tmp_path / "crawl.warc.gz", crawl())


@pytest.fixture
def finished(tmp_path: Path, archive: Path) -> Path:
    """Run over the archive, and return the output."""
    return write_output(tmp_path / "output", [archive], parts=2)
