"""How far a run or a stream is, seen from outside: by its output and by what it has staged. Needs neither Spark nor
Java."""

from dbce_spark import storage
from dbce_spark.status import run, stream
from dbce_spark.status.run import Status
from dbce_spark.status.stream import StreamStatus
from dbce_spark.streaming.stream.stream_tables import BEGUN


def of(output: str, staging_in: str = "") -> Status | StreamStatus:
    """What can be said of an output, of a collection, or of the output of a stream. `staging_in` is what `--staging` of
    a run was, "" without.

    Raises:
        OutputError: it holds something that no run of this version has written, or its storage cannot be reached.
    """
    return stream.of(output) if BEGUN in storage.names(output) else run.of(output, staging_in)
