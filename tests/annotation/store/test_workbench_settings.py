"""Refuse settings of the workbench by which nobody could work."""

import pytest

from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.errors import ConfigError


@pytest.mark.parametrize("name", ["threads", "ticket_hours", "login_hours", "login_tries"])
def test_a_workbench_that_lets_nobody_in_is_refused(name: str) -> None:
    """Without a thread no request is answered, and without a try or an hour nobody is logged in."""
    with pytest.raises(ConfigError, match=f"{name} is 0; it must be at least 1"):
        settings({name: 0})
