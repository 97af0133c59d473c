"""How fast a count grows, and when it will be full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.pace import Pace, clock

GROWTHS = st.lists(st.tuples(st.floats(0.01, 100), st.integers(0, 1000)), min_size=1, max_size=50)


def test_of_a_count_that_has_not_grown_nothing_is_said() -> None:
    """Neither a speed nor an end."""
    pace = Pace(5.0)
    pace.note(9.0, 0)

    assert (0.0, None) == (pace.per_second, pace.seconds_to(10))


def test_a_steady_count_ends_when_it_must() -> None:
    """Two a second: of 100, 40 are left after 30 seconds."""
    pace = Pace(0.0)
    for second in range(31):
        pace.note(float(second), 2 * second)

    assert (2.0, 20.0) == (pace.per_second, pace.seconds_to(100))
    assert 0.0 == pace.seconds_to(60)


def test_what_an_earlier_run_has_left_is_soon_no_speed() -> None:
    """A thousand in the first second, then one a second: after a minute the speed is one a second."""
    pace = Pace(0.0)
    for second in range(1, 61):
        pace.note(float(second), 1000 + second)

    assert 1.0 == pace.per_second


@given(growths=GROWTHS)
def test_a_speed_is_that_of_the_later_half(growths: list[tuple[float, int]]) -> None:
    """However a count has grown, it is never faster than its fastest step, and never below nothing."""
    pace, now, count, steps = Pace(0.0), 0.0, 0, []
    for seconds, more in growths:
        now, count = now + seconds, count + more
        steps.append(more / seconds)
        pace.note(now, count)

    assert 0.0 <= pace.per_second <= max(steps) * (1 + 1e-6)


@pytest.mark.parametrize(("seconds", "told"), [(0.4, "0:00"), (65, "1:05"), (3599.7, "1:00:00"), (90061, "25:01:01")])
def test_a_clock_has_hours_where_there_are(seconds: float, told: str) -> None:
    """Seconds are rounded before minutes are made of them."""
    assert told == clock(seconds)
