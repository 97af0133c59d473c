"""Share fixtures among the tests of the workbench."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST

from dbce_spark.annotation.store import annotator_accounts, workbench_store
from dbce_spark.annotation.store.workbench_store import Connection
from tests.support.annotation_stores import with_people


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with parameters by which a test of many logins ends."""
    monkeypatch.setattr(annotator_accounts, "_HASHER", PasswordHasher.from_parameters(CHEAPEST))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Connection]:
    """Open a store of four pages and three people."""
    found = workbench_store.open_store(with_people(tmp_path, "ada", "bob", "eve"))
    yield found
    found.close()
