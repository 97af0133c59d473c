"""Refuse rules that are out of their range."""

import pytest

from dbce_spark.annotation.labels.labels_settings import rules
from dbce_spark.errors import ConfigError


@pytest.mark.parametrize(
    "given",
    [{"minimum_submissions": 0}, {"whisker": -1}, {"tolerated_bias": 1.1}, {"smoothing": 0}, {"minimum_pages": 0}],
)
def test_a_value_out_of_its_range_is_named(given: dict[str, float]) -> None:
    """The error names the rule, and its range."""
    with pytest.raises(ConfigError, match=rf"{next(iter(given))} is .*; it must"):
        rules(given)


def test_what_is_not_given_is_as_shipped() -> None:
    """None stands for an option that was not given."""
    assert rules({"whisker": None}) == rules({})
