"""`dbce stream` that ends itself and all its processes by SIGKILL: python killed_stream.py POINT BATCH ARGUMENTS..."""

import os
import signal
import sys
from typing import Any, NoReturn

from dbce_spark.commands import cli
from dbce_spark.spark.jobs import stream_tasks
from dbce_spark.streaming.stream import stream_tables


def die() -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    raise AssertionError("still alive")


def main(point: str, batch: int, arguments: list[str]) -> int:
    """Runs the command; at this batch it dies: before its "files", before the "commit" of these, or "behind" that."""
    commit, part = stream_tables.commit, stream_tasks.writing

    def parted(folder: str, number: int, *rest: Any) -> Any:
        if (point, batch) == ("files", number):
            die()
        return part(folder, number, *rest)

    def committed(folder: str, number: int, *rest: Any, **named: Any) -> stream_tables.Commit:
        if (point, batch) == ("commit", number):
            die()
        made = commit(folder, number, *rest, **named)
        if (point, batch) == ("behind", number):
            die()
        return made

    vars(stream_tasks)["writing"], vars(stream_tables)["commit"] = parted, committed
    return cli.main(["stream", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
