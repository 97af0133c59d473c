"""Processes of their own for tests. They begin in a hundredth of a second, since what they need is imported already."""

import multiprocessing
from multiprocessing.context import ForkServerContext

_IMPORTED = ("dbce_spark.annotation.web.workbench_server", "tests.html.test_hostile")
"""What takes a second to import. There is one such server in a process, so that these are for all tests."""


def forks() -> ForkServerContext:
    """Return the context of a clean process without threads, from which others are forked."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_IMPORTED])
    return context
