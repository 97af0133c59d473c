"""The two ways in which storage does not give a range of bytes: for good, and for now."""


class ObjectGone(Exception):
    """The bytes cannot be read, and trying again will not help."""


class Busy(Exception):
    """The bytes cannot be read now. `retry_after` is in seconds, 0 where the server names no time."""

    def __init__(self, detail: str, retry_after: float = 0.0):
        super().__init__(detail)
        self.retry_after = retry_after
