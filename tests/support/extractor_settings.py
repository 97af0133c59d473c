"""The setting in which extractors are run by tests."""

from collections.abc import Callable

from dbce_spark.evaluation.extracting.joint_extractors import Setting
from tests.support.builders import CONFIG


def setting(workers: int = 1, advance: Callable[[int], object] = lambda _: None, folds: str = "") -> Setting:
    """The shipped parameters, and two seconds for a page."""
    return Setting(config=CONFIG, time_limit=2.0, workers=workers, folds=folds, advance=advance)
