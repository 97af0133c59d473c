"""The methods by which a stream labels."""

import runpy
from types import ModuleType

import pytest

from dbce_spark.streaming.stream import site_pool, streamed_domain, streamed_site
from dbce_spark.streaming.urltree import domain_state


@pytest.mark.parametrize(("state", "inner"), [(streamed_domain, domain_state), (streamed_site, site_pool)])
def test_a_state_has_another_version_if_a_part_of_it_has(
    state: ModuleType, inner: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a stream whose state this program cannot read is refused before Spark starts, by what was noted of it."""
    monkeypatch.setattr(inner, "VERSION", inner.VERSION + 1)

    assert state.VERSION + 1 == runpy.run_path(str(state.__file__))["VERSION"]
