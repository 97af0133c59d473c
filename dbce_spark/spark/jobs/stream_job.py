"""The stream job: files that appear are read, their pages labelled where their domain's state is, and written.

What its tasks do is in `stream_tasks`. No algorithm is there: `dbce_spark.streaming.stream` labels pages, and
`local_stream` there is the whole of it.
"""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from dbce_spark.config import DbceConfig
from dbce_spark.errors import ConfigError, InputError, OutputError, PlatformError, installs
from dbce_spark.files import storage
from dbce_spark.files.sources import is_remote
from dbce_spark.log import Log
from dbce_spark.output.collection import Collection, Version
from dbce_spark.output.schemas import stream_rows
from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.spark_errors import as_job_errors
from dbce_spark.spark.jobs import primed_sites, stream_tasks
from dbce_spark.spark.run import checkpoint_paths, heartbeat, plan, run_lock, run_metrics, staging
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.streaming.stream import stream_parts, stream_tables
from dbce_spark.streaming.stream.outcomes import LABELS, REJECTS, REPEATS
from dbce_spark.streaming.stream.stream_method import DBCE, stream_method
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

try:
    import google.protobuf  # noqa: F401  # PySpark misses it only at the first batch

    from dbce_spark.spark.source.file_source import NAME, Arrivals, Ledger
except ImportError as error:
    raise PlatformError(
        f"dbce stream needs PySpark 4.2 or newer, and protobuf: {installs('stream')} ({error})"
    ) from error

_SHOWN = {
    "files": "files",
    "records": "records",
    LABELS: "labelled",
    REPEATS: "repeats",
    REJECTS: "rejects",
}
"""Counts of a batch that the log shows, each with its word."""
_OF_STATE = ("pool_pages", "pool_blocks", "relabel_pages", "waiting_bytes")
"""Parameters of `stream` that say what the state of a site keeps."""
_WAIT_SECONDS = 1

SETTINGS = {
    # The only store that keeps state beside Java's heap, and the only one that this kind of state can be in.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch writes what has changed of the state, and not all files of RocksDB.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Only the last batch is ever gone back to; Spark would keep the state behind a hundred of them.
    "spark.sql.streaming.minBatchesToRetain": "4",
    # Without rows that come by time alone there is nothing to do in a batch without files.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # A stream with state is planned without it whatever is set, with two lines of warning where it is on.
    "spark.sql.adaptive.enabled": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """The request for a stream. `every`: seconds from one batch to the next; None: what is there now, and no more.

    `checkpoint` is where Spark keeps how far it is, and the state: a folder, or a URL that Spark knows. `prime` is the
    collection whose pages sites begin with; "": they begin with none. `tree` has the parameters of the URL Tree.
    """

    inputs: tuple[str, ...]
    output: str
    checkpoint: str
    every: float | None
    tree: UrlTreeConfig
    prime: str = ""


def check(request: StreamRequest, config: DbceConfig) -> None:
    """Check that the stream may begin or go on, and can write there, as `run` does: before Spark is started for it.

    Where the stream is refused, nothing is written: a lock would be.
    """
    _check_begun(request, config)
    is_primed = _is_behind_first_batch(request)
    Ledger(f"{request.output}/{stream_tables.ARRIVALS}")
    if request.prime and stream_tables.begun_with(request.output) and not is_primed:
        collection = Collection(request.prime)
        primed_sites.page_files(collection, _begun_version(request, collection))
    with _locked(request.output):
        pass


def run(spark: SparkSession, request: StreamRequest, config: DbceConfig, log: Log) -> dict[str, int]:
    """Read what has appeared, or go on until stopped; return all that was counted since the stream began.

    Raises:
        ConfigError: pages are to be labelled by what no stream has.
        InputError: the collection to prime from is none.
        OutputError: the output is of another stream, or another process writes there; or the collection was read
            otherwise.
        JobError: Spark gave up.
    """
    folder = request.output
    with _locked(folder), heartbeat.keeping_failure(folder), as_job_errors("the same command goes on from there"):
        _check_begun(request, config)
        stream_tables.begin(folder, _settings(request, config))
        checkpoint_paths.correct(request.checkpoint)
        log.run_id, log.attempt = heartbeat.next_attempt(folder, goes_on=True)
        with heartbeat.beating(folder, log):
            return _run(spark, request, config, log)


def _locked(folder: str) -> AbstractContextManager[None]:
    """Keep other processes off the output within the block; of a store only Spark can, behind a batch.

    Raises:
        OutputError: one does.
    """
    return nullcontext() if is_remote(folder) else run_lock.hold(folder)


def _run(spark: SparkSession, request: StreamRequest, config: DbceConfig, log: Log) -> dict[str, int]:
    with applied_settings(spark, {**SETTINGS, "spark.sql.shuffle.partitions": str(config.stream.partitions)}):
        query = _started(spark, request, config, log)
        try:
            while not query.awaitTermination(_WAIT_SECONDS):
                pass
        finally:
            with suppress(Py4JError, PySparkException, OSError):  # Java may be gone already
                query.stop()
    done = stream_tables.last_commit(request.output)
    return done.totals if done else {}


def _check_begun(request: StreamRequest, config: DbceConfig) -> None:
    """Check that the stream may begin or go on. Raises as `run` does."""
    if config.stream.by != DBCE and request.prime:
        raise ConfigError("--prime is for --by dbce: a collection has no counts for URL Tree")
    if config.stream.by == DBCE and config.label.by != "classifier":
        raise ConfigError(f'label.by is {config.label.by}; by DBCE a stream labels by "classifier"')
    is_begun = stream_tables.is_begun(request.output, _settings(request, config))
    if not is_begun and _is_of_a_stream(request.checkpoint):
        raise OutputError(f"{request.checkpoint} is of a stream with another output; give another --checkpoint")


def _is_of_a_stream(checkpoint: str) -> bool:
    """Return whether Spark keeps the state of a stream there; a store that only Spark reaches is not looked into."""
    with suppress(OutputError):
        return "offsets" in storage.list_names(checkpoint)
    return False


def _settings(request: StreamRequest, config: DbceConfig) -> dict[str, Any]:
    """Return all that the rows follow from, the files aside."""
    method = stream_method(config, request.tree)
    settings = {
        "checkpoint": _checkpoint_name(request),
        "partitions": config.stream.partitions,
        "by": method.name,
        "state": method.state_version,
        "input": asdict(config.input),
        "page": asdict(config.page),
        "formats": asdict(config.formats),
        "urltree": asdict(request.tree),
    }
    if method.name != DBCE:
        return settings
    return settings | {
        **{name: getattr(config.stream, name) for name in _OF_STATE},
        **{name: asdict(getattr(config, name)) for name in ("label", "template", "lsh")},
        "classifier": plan.classifier_digest(config.label),
        "prime": _primed_from(request, config),
    }


def _checkpoint_name(request: StreamRequest) -> str:
    """Return the name that the checkpoint is noted by. One in the output is noted by its name there, so that the output
    may be moved with it; but by its path if it was noted so when the stream was begun."""
    before = stream_tables.begun_with(request.output).get("checkpoint")
    is_inside = request.checkpoint == f"{request.output}/{stream_tables.CHECKPOINT}"
    return stream_tables.CHECKPOINT if is_inside and before != request.checkpoint else request.checkpoint


def _primed_from(request: StreamRequest, config: DbceConfig) -> dict[str, Any]:
    """Return the collection and the version that the stream is primed from: the last one when it was begun."""
    if not request.prime:
        return {}
    before = stream_tables.begun_with(request.output).get("prime", {})
    if before.get("collection") == request.prime:
        return dict(before)
    collection = Collection(request.prime)
    version = collection.current()
    primed_sites.check_alike(collection, version, config)
    return {"collection": request.prime, "version": version.number}


def _started(spark: SparkSession, request: StreamRequest, config: DbceConfig, log: Log) -> StreamingQuery:
    spark.dataSource.register(Arrivals)
    schema = staging.schema(stream_rows.STREAM)
    files = spark.readStream.format(NAME).options(**_source_options(request, config)).load()
    primed = _primed_states(spark, request, config)
    labelled = (
        files.mapInArrow(stream_tasks.file_rows(config, request.tree), schema)
        .groupBy("domain")
        .transformWithStateInPandas(
            stream_tasks.Labelling(stream_method(config, request.tree)),
            schema,
            outputMode="Append",
            timeMode="None",
            initialState=None if primed is None else primed.groupBy("domain"),
        )
    )
    return (
        labelled.writeStream.queryName("dbce stream")
        .foreachBatch(_committing(request.output, config, log))
        .option("checkpointLocation", request.checkpoint)
        .outputMode("append")
        .trigger(**_trigger(request.every))
        .start()
    )


def _source_options(request: StreamRequest, config: DbceConfig) -> dict[str, str]:
    """Return the options of the source `Arrivals`."""
    return {
        "inputs": json.dumps([*request.inputs]),
        "patterns": json.dumps([*config.input.patterns]),
        "ledger": f"{request.output}/{stream_tables.ARRIVALS}",
        "files": str(config.stream.batch_files),
        "bytes": str(config.stream.batch_bytes),
    }


def _trigger(every: float | None) -> dict[str, Any]:
    """Return when batches begin, as Spark takes it: each so many seconds; None: at once, until all is read."""
    return {"availableNow": True} if every is None else {"processingTime": f"{round(1000 * every)} milliseconds"}


def _primed_states(spark: SparkSession, request: StreamRequest, config: DbceConfig) -> DataFrame | None:
    """Return the PRIMED rows of the collection that the stream is primed from; None if it is from none.

    Spark takes them into the first batch only. Once that is behind, the collection need no longer be there.
    """
    if not request.prime:
        return None
    if _is_behind_first_batch(request):
        return primed_sites.no_states(spark)
    collection = Collection(request.prime)
    return primed_sites.primed_states(spark, collection, _begun_version(request, collection), config, request.tree)


def _is_behind_first_batch(request: StreamRequest) -> bool:
    last = stream_tables.last_commit(request.output)
    return last is not None and last.batch > 0


def _begun_version(request: StreamRequest, collection: Collection) -> Version:
    """Read the version of the collection that the stream was begun with.

    Raises:
        OutputError: it is not there any more.
    """
    number = stream_tables.begun_with(request.output)["prime"]["version"]
    try:
        return collection.version(number)
    except InputError as error:
        raise OutputError(
            f"--prime: {error}; {request.output} was begun with it, and needs it until its second batch is written:"
            " put it back, or begin with another --output"
        ) from error


def _committing(folder: str, config: DbceConfig, log: Log) -> Callable[[DataFrame, int], None]:
    """Return the function that Spark calls with each batch, and calls again after a kill."""

    def write_and_commit(batch: DataFrame, number: int) -> None:
        before, began = stream_tables.read_commit(folder, number), monotonic()
        if before:
            # It is computed again all the same: Spark lacks the state behind it. Its rows stay as they are.
            again = _gathered(batch, stream_tasks.recounting(number, config))
            stream_tables.check_same(folder, before, again)
            return
        whole = _gathered(batch, stream_tasks.writing(folder, number, config))
        made = stream_tables.commit(folder, number, whole, seconds=monotonic() - began)
        _show(batch.sparkSession, made, log)

    return write_and_commit


def _gathered(
    batch: DataFrame, work: Callable[[stream_tasks.Batches], stream_parts.WrittenPart]
) -> stream_parts.WrittenPart:
    """Do the work of each part of a batch; return what all have written."""
    gathered = stream_parts.WrittenPart(Counter(), Counter(), Counter())
    for part in task_results(batch, work, stream_parts.WrittenPart):
        gathered.files.update(part.files)
        gathered.counts.update(part.counts)
        gathered.digests.update(part.digests)
    return gathered


def _show(spark: SparkSession, made: stream_tables.Commit, log: Log) -> None:
    """Show the counts of a batch: to the log, and in Spark's metrics."""
    totals = Counter(made.totals)
    counted = totals + Counter(sources=totals["files"])
    run_metrics.gauges_of(spark.sparkContext).show(run_metrics.values(counted, made.pages_per_second))
    seen = ", ".join(f"{made.counts.get(name, 0):,} {text}" for name, text in _SHOWN.items())
    figures = {"batch": made.batch, "seconds": made.seconds, "pages_per_second": made.pages_per_second}
    line = f"batch {made.batch}: {seen} in {made.seconds:,.1f} s; {totals[LABELS]:,} labelled in all"
    log.write("progress", line, figures | {"counts": made.counts, "totals": made.totals})
