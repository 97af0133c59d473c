"""How fast a count grows, and when it will be full."""

from collections import deque


class Pace:
    """A count that grows, noted with the time now and then.

    Its speed is that of the later half of the time: what an earlier run has left is passed over in no time, and must
    not be taken for speed for long.
    """

    def __init__(self, began: float, count: int = 0):
        self._began = began
        self._noted = deque([(began, count)])

    def note(self, now: float, count: int) -> None:
        """The count at a time in seconds, which is no earlier than the one before."""
        self._noted.append((now, count))
        half = (self._began + now) / 2
        while len(self._noted) > 2 and self._noted[1][0] <= half:
            self._noted.popleft()

    @property
    def per_second(self) -> float:
        """0.0 as long as nothing can be said."""
        (since, before), (now, count) = self._noted[0], self._noted[-1]
        return max(0.0, (count - before) / (now - since)) if now > since else 0.0

    def seconds_to(self, total: int) -> float | None:
        """Until the count is so large; None as long as it does not grow."""
        left = total - self._noted[-1][1]
        if left <= 0:
            return 0.0
        return left / self.per_second if self.per_second else None


def clock(seconds: float) -> str:
    """4:05, or 1:04:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
