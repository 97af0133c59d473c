"""The engine of a run is chosen by what it has to read."""

import argparse
from unittest.mock import Mock

import pytest

from dbce_spark.commands import engine_choice
from dbce_spark.files import sources
from tests.support.builders import config


def test_no_more_sizes_are_asked_for_than_the_choice_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a request where files are remote, and the first that is too large decides."""
    size_or = Mock(return_value=1 << 30)
    monkeypatch.setattr(sources, "size_or", size_or)
    unset = dict.fromkeys(("collection", "index", "limit", "staging", "master", "spark", "output"))

    assert not engine_choice.is_local(argparse.Namespace(engine="auto", **unset), config(), ["s3://b/1", "s3://b/2"])
    assert 1 == size_or.call_count
