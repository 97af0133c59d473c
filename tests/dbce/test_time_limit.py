"""The limit of processor time of what is done with a page once it is parsed."""

import signal
import threading

import pytest

from dbce_spark.dbce.time_limit import OutOfTime, time_limit
from tests.support.endless import compute_for_ever


def test_work_without_end_is_stopped() -> None:
    """By an error that names the parameter."""
    with (
        pytest.raises(OutOfTime, match=r"more than 0\.01 s of computing, which is page\.max_seconds"),
        time_limit(0.01),
    ):
        compute_for_ever()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_nothing_is_left_behind(is_stopped: bool) -> None:
    """Neither a timer nor what answers it, whether the work ended or was stopped."""
    before = signal.getsignal(signal.SIGVTALRM)
    try:
        with time_limit(0.01 if is_stopped else 100):
            if is_stopped:
                compute_for_ever()
    except OutOfTime:
        assert is_stopped

    assert before == signal.getsignal(signal.SIGVTALRM)
    assert (0, 0) == signal.getitimer(signal.ITIMER_VIRTUAL)


def test_a_thread_has_no_limit() -> None:
    """Only the main thread gets signals: another one's work is done as without."""
    done = []

    def work() -> None:
        with time_limit(0.01):
            done.append(signal.getitimer(signal.ITIMER_VIRTUAL))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert done == [(0, 0)]
