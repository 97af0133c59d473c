"""Share fixtures among the tests of the workbench."""

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST

from dbce_spark.annotation import annotator_accounts


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with parameters by which a test of many logins ends."""
    monkeypatch.setattr(annotator_accounts, "_HASHER", PasswordHasher.from_parameters(CHEAPEST))
