"""Duplicates of texts: `dbce_spark.dbce.duplicates` over all at once. Digests and signatures travel; no text.

What is said of a text is brought to the task that staged it, which writes its rows beside those of its extractions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import duplicates, texts
from dbce_spark.dbce.duplicates import EXACT, NEAR, Settled
from dbce_spark.errors import OutputError
from dbce_spark.spark import ledger, marked, staging
from dbce_spark.spark.groups import groups, numbered
from dbce_spark.spark.known import Known
from dbce_spark.tables import duplicate_rows

NAME = "duplicates"
_FIRSTS, _LIKES, _SETTLED, _SAID, _AGAIN, _MET = "firsts", "likes", "settled", "said", "marked_again", "met"
BUCKET = ["band", "key"]
RUN = [*BUCKET, "run"]
ORDER = ["arrived", "timestamp", "capture_id"]
_FIRST_ROW = pa.schema(
    [
        ("text_digest", pa.string()),
        ("signature", pa.binary()),
        ("arrived", pa.int32()),
        ("timestamp", pa.int64()),
        ("capture_id", pa.string()),
        ("url_key", pa.string()),
        ("duplicate_of", pa.string()),
        ("similarity", pa.float64()),
        ("steps", pa.int32()),
    ]
)
"""A text, and the capture that had it first. What is said of it is there where that is known."""
_MEMBER_ROW = pa.schema(
    [
        ("band", pa.int32()),
        ("key", pa.int64()),
        ("arrived", pa.int32()),
        ("timestamp", pa.int64()),
        ("capture_id", pa.string()),
    ]
)
_LIKE_ROW = pa.schema(
    [
        ("later", pa.string()),
        ("later_time", pa.int64()),
        ("arrived", pa.int32()),
        ("timestamp", pa.int64()),
        ("earlier", pa.string()),
        ("similarity", pa.float64()),
    ]
)
"""A new text that is like an earlier one, which is in that place of the order."""
_SETTLED_ROW = pa.schema([("capture_id", pa.string()), ("leads", pa.bool_()), ("steps", pa.int32())])
_KNOWN, _NEW = 0, 1
"""Values of `arrived`."""
FEW = 20_000
"""Texts that one task sets beside each other in less time than Spark takes to share them out: 7 MB, and some 2 s."""
MOST_LIKES = 100_000
"""Pairs of texts that the driver settles by itself, in some 40 MB: sooner than one pass is begun."""


@dataclass(frozen=True, slots=True)
class Account:
    """Captures that have a text; of these, those that are copies, that are like another and no copies, and those of
    which it took too many steps to say."""

    texts: int = 0
    exact: int = 0
    near: int = 0
    unclear: int = 0


def write(spark: SparkSession, output: str, tables_in: str, known: Known, config: DuplicatesConfig) -> Account:
    """Writes `duplicates` of the texts that are staged under `output` into the folder `tables_in`: a file beside each
    of `extractions`, with the rows of those that have a text in the same order. Of a collection also what is said anew
    of known texts, as they are like one that has changed."""
    target = f"{tables_in.rstrip('/')}/{NAME}"

    def write_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counter[str] = Counter()
        for group in groups(batches, ["task"]):
            task = group.column("task")[0].as_py()
            work = partial(write_task, output, target, task, group)
            counts += ledger.once(staging.done(output, NAME, task), Counter[str], work)
        yield pa.RecordBatch.from_pydict(
            {"what": pa.array(list(counts), pa.string()), "n": pa.array(list(counts.values()), pa.int64())}
        )

    staged = staging.read(spark, output, staging.TEXTS, duplicate_rows.TEXTS)
    tasks = max(1, len([*Path(staging.path(output, staging.TEXTS)).glob("*.parquet")]))
    said = _said(spark, output, tables_in, staged, known, config)
    found = said.where("task is not null").repartition(tasks, "task").sortWithinPartitions("task", "row_no")
    counts: Counter[str] = Counter()
    for row in found.mapInArrow(write_all, "what string, n long").collect():
        counts[row["what"]] += row["n"]
    if not counts:
        storage.write_parquet(f"{target}/site_part=0/part-00000.parquet", duplicate_rows.DUPLICATES, [])
    return Account(**counts)


def _said(
    spark: SparkSession, output: str, tables_in: str, texts: DataFrame, known: Known, config: DuplicatesConfig
) -> DataFrame:
    """What is said of staged texts, and anew of known ones, as MARKS rows."""
    are_few = _are_few(output, known)
    if not known:
        return few(texts, config) if are_few else marks(spark, output, texts, config)
    before, again = marked.before(spark, known), marked.relabelled(spark, tables_in)
    if are_few:
        is_relabelled = before.join(again.withColumn("is_relabelled", F.lit(True)), on="capture_id", how="left")
        said = few(texts.unionByName(is_relabelled.fillna(False, ["is_relabelled"]), allowMissingColumns=True), config)
    else:
        said = extended(spark, output, before, again, texts, config)
    staging.write(said, output, _SAID)
    said = staging.read(spark, output, _SAID, duplicate_rows.MARKS)
    marked.write(said, before, tables_in)
    return said


def _are_few(output: str, known: Known) -> bool:
    folder = Path(staging.path(output, staging.TEXTS))
    try:
        count: int = sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))
        return count + marked.count(known) <= FEW
    except pa.ArrowInvalid:  # a task will name the file
        return False


def few(rows: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """What `dbce.duplicates.extended` says of TEXTS or COMPARED rows, as MARKS rows, by that alone, in one task."""
    names = [name for name in duplicate_rows.COMPARED.names if name in rows.columns]

    def at_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if some := [*batches]:
            yield _extended(pa.Table.from_batches(some), config)

    return rows.select(*names).repartition(1).mapInArrow(at_once, staging.schema(duplicate_rows.MARKS))


def _extended(rows: pa.Table, config: DuplicatesConfig) -> pa.RecordBatch:
    if "is_relabelled" not in rows.column_names:
        return duplicate_rows.marks_batch(duplicates.marks([], duplicate_rows.texts_from(rows), config), rows)
    is_known = pc.is_valid(rows.column("is_relabelled"))
    known, texts = rows.filter(is_known), rows.filter(pc.invert(is_known))
    now = {text.capture_id: text for text in duplicate_rows.texts_from(texts)}
    again = known.filter(known.column("is_relabelled")).column("capture_id").to_pylist()
    relabelled = {capture_id: now.pop(capture_id, None) for capture_id in again}
    said = duplicates.extended(duplicate_rows.marked_from(known), relabelled, now.values(), config)
    return duplicate_rows.marks_batch(said, texts)


def extended(
    spark: SparkSession,
    output: str,
    known: DataFrame,
    relabelled: DataFrame,
    texts: DataFrame,
    config: DuplicatesConfig,
) -> DataFrame:
    """What `dbce.duplicates.extended` says, on DUPLICATES rows, capture ids and TEXTS rows, as MARKS rows.

    What is worked out on the way is staged under `output`.
    """
    gone = marked.gone(spark, output, known, texts, relabelled)
    standing = marked.standing(known, gone)
    ids = standing.join(texts.select("capture_id"), on="capture_id", how="left_semi").select("capture_id")
    staging.write(ids, output, _AGAIN)
    again = staging.read(spark, output, _AGAIN, marked.ID)
    fresh = texts.join(again, on="capture_id", how="left_anti")
    asked = marked.asked(known, gone).join(texts.select("capture_id"), on="capture_id", how="left_anti")
    new = fresh.unionByName(asked).select(*duplicate_rows.TEXTS.names)
    firsts_of_known = standing.where("copy_of is null")
    in_bands = [members(some.select("capture_id", "signature"), config) for some in (firsts_of_known, new)]
    met = marked.touching(standing, new, *in_bands)
    staging.write(met, output, _MET)
    met = staging.read(spark, output, _MET, duplicate_rows.DUPLICATES)
    same = texts.select("capture_id", "task", "row_no").join(standing, on="capture_id", how="inner")
    made = marks(spark, output, new, config, met)
    return made.unionByName(same.select(*duplicate_rows.MARKS.names))


def write_task(output: str, target: str, task: int, marked: pa.Table) -> Counter[str]:
    """Writes the rows of one task, from its staged texts and their MARKS rows. A second attempt writes the same.

    Raises:
        OutputError: the staged file is broken.
    """
    path = staging.file(output, staging.TEXTS, task)
    try:
        with storage.open_parquet(path) as file:
            (staged,) = file.read().combine_chunks().to_batches()
    except (pa.ArrowInvalid, OSError) as error:
        raise OutputError(f"{path} is broken: {error}") from error
    (said,) = marked.combine_chunks().to_batches()
    rows = duplicate_rows.duplicates_batch(staged, said)
    parts = staged.column("site_part")
    for part in pc.unique(parts).to_pylist():
        of_part = rows.filter(pc.equal(parts, part))
        target_path = f"{target}/site_part={part}/part-{task:05}.parquet"
        storage.write_parquet(
            target_path, duplicate_rows.DUPLICATES, [of_part], dictionary=["same_url", "repeats", "steps"]
        )
    return counted(rows)


def counted(rows: pa.RecordBatch) -> Counter[str]:
    """The account of some DUPLICATES rows."""
    is_copy = pc.is_valid(rows.column("copy_of"))
    is_near = pc.and_not(pc.is_valid(rows.column("duplicate_of")), is_copy)
    is_unclear = pc.and_not(pc.is_null(rows.column("steps")), is_copy)
    sums = {
        name: pc.sum(mask).as_py() for name, mask in (("exact", is_copy), ("near", is_near), ("unclear", is_unclear))
    }
    return Counter({"texts": rows.num_rows, **sums})


def marks(
    spark: SparkSession, output: str, new: DataFrame, config: DuplicatesConfig, known: DataFrame | None = None
) -> DataFrame:
    """What `dbce.duplicates.marks` says of TEXTS rows beside DUPLICATES rows that are known, as MARKS rows.

    What is worked out on the way is staged under `output`.
    """
    every = _arrived(new, _NEW)
    if known is not None:
        every = every.unionByName(_arrived(known, _KNOWN), allowMissingColumns=True)
    staging.write(firsts(every), output, _FIRSTS)
    first = staging.read(spark, output, _FIRSTS, _FIRST_ROW)
    staging.write(find(first, config), output, _LIKES)
    likes = staging.read(spark, output, _LIKES, _LIKE_ROW)
    settled = settle(spark, output, first, likes, config.steps)
    told = of_texts(first, likes, settled)
    return _of_captures(every, told).select(*duplicate_rows.MARKS.names)


def _arrived(rows: DataFrame, arrived: int) -> DataFrame:
    micros = F.unix_micros("timestamp").alias("timestamp")
    others = [F.col(name) for name in rows.columns if name not in ("timestamp", "site_part")]
    return rows.select(*others, micros, F.lit(arrived).alias("arrived"))


def firsts(every: DataFrame) -> DataFrame:
    """The different texts, as _FIRST_ROW: each with the capture that had it first."""
    said = [
        F.col(field.name) if field.name in every.columns else F.lit(None).cast(kind.dataType).alias(field.name)
        for field, kind in zip(_FIRST_ROW, staging.schema(_FIRST_ROW), strict=True)
    ]
    # Of a known text the capture that others are said to be copies of, though one that came later may be earlier.
    is_copy = F.col("copy_of").isNotNull() if "copy_of" in every.columns else F.lit(False)
    rows = every.select(*said, is_copy.alias("is_copy"))
    others = [name for name in _FIRST_ROW.names if name not in (*ORDER, "text_digest", "signature")]
    whole = ["arrived", "is_copy", *ORDER[1:], *others]
    found = rows.groupBy("text_digest").agg(F.min(F.struct(*whole)).alias("first"), F.first("signature").alias("sig"))
    return found.select("text_digest", F.col("sig").alias("signature"), "first.*").select(*_FIRST_ROW.names)


def members(texts: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """A row for each band of each text that is signed, as _MEMBER_ROW; what it lacks of the order is null."""
    kinds = {"arrived": "int", "timestamp": "long", "capture_id": "string"}
    order = [name if name in texts.columns else F.lit(None).cast(kinds[name]).alias(name) for name in ORDER]

    def banded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _memberships(batch, config)

    signed = texts.where(F.col("signature").isNotNull()).select(*order, "signature")
    return signed.mapInArrow(banded, staging.schema(_MEMBER_ROW))


def find(first: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """Which new texts are like which earlier ones, as _LIKE_ROW, each pair once."""

    def of_runs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for run in groups(batches, RUN):
            if run.num_rows > 1:
                yield _of_run(run, config.threshold)

    signed = first.where(F.col("signature").isNotNull())
    placed_in = members(first, config)
    met = placed_in.groupBy(*BUCKET).agg(F.count("*").alias("size"), F.max("arrived").alias("latest"))
    asked = met.where((F.col("size") > 1) & (F.col("latest") == _NEW)).drop("latest")
    placed = in_runs(placed_in, asked, config.cap).join(
        signed.select("capture_id", "signature"), on="capture_id", how="inner"
    )
    runs = placed.repartition(*RUN).sortWithinPartitions(*RUN, *ORDER)
    return runs.mapInArrow(of_runs, staging.schema(_LIKE_ROW)).distinct()


def _memberships(signed: pa.RecordBatch, config: DuplicatesConfig) -> pa.RecordBatch:
    """A row for each band of each text."""
    keys = texts.bands(duplicate_rows.text_signatures(signed.column("signature")), config) if len(signed) else None
    rows = pa.array([row for row in range(len(signed)) for _ in range(config.bands)], pa.int32())
    columns = {name: signed.column(name).take(rows) for name in ORDER}
    columns["band"] = pa.array([*range(config.bands)] * len(signed), pa.int32())
    columns["key"] = pa.array([] if keys is None else keys.reshape(-1), pa.int64())
    return pa.RecordBatch.from_arrays([columns[name] for name in _MEMBER_ROW.names], schema=_MEMBER_ROW)


def in_runs(members: DataFrame, met: DataFrame, cap: int) -> DataFrame:
    """The memberships in these buckets with their run; the first of a bucket is in all its runs."""
    whole = members.join(met.where(F.col("size") <= cap), on=BUCKET, how="inner").withColumn(
        "run", F.lit(0).cast("long")
    )
    cut = numbered(members.join(met.where(F.col("size") > cap), on=BUCKET, how="inner"), BUCKET, ["arrived"])
    every_run = F.sequence(F.lit(0).cast("long"), F.expr(f"(size - 1) div {cap}"))
    own_run = F.array(F.expr(f"at div {cap}"))
    run = F.explode(F.when(F.col("at") == 0, every_run).otherwise(own_run))
    return whole.unionByName(cut.withColumn("run", run).drop("at")).drop("size")


def _of_run(run: pa.Table, threshold: float) -> pa.RecordBatch:
    """Which new texts of one run are like earlier ones of it."""
    signatures = duplicate_rows.text_signatures(run.column("signature").combine_chunks())
    arrived, timestamps, ids = (run.column(name).to_pylist() for name in ORDER)
    rows = [
        (ids[later], timestamps[later], arrived[earlier], timestamps[earlier], ids[earlier], similarity)
        for later, earlier, similarity in texts.alike(signatures, threshold)
        if arrived[later] == _NEW
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(_LIKE_ROW)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _LIKE_ROW.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_LIKE_ROW)


def settle(spark: SparkSession, output: str, first: DataFrame, likes: DataFrame, steps: int) -> DataFrame:
    """What became of the texts that are like earlier ones, and of these, as `dbce.duplicates.settle` has it.

    Few are settled here, in one go; many in passes over those that are undecided, until there are none or `steps` are
    done.
    """
    laters = likes.select(F.col("later").alias("capture_id")).distinct()
    staging.write(_settled_before(first, likes, laters), output, f"{_SETTLED}-0")
    if likes.count() <= MOST_LIKES:
        return _settled_here(spark, _settled(spark, output, 1), likes, steps)
    undecided = laters.count()
    for step in range(1, steps + 1):
        settled = _settled(spark, output, step)
        if not undecided:
            return settled
        name = f"{_SETTLED}-{step}"
        staging.write(_next(likes, settled, step), output, name)
        undecided -= staging.read(spark, output, name, _SETTLED_ROW).count()
    return _settled(spark, output, steps + 1)


def _settled_here(spark: SparkSession, before: DataFrame, likes: DataFrame, steps: int) -> DataFrame:
    """The same in this process, whose memory holds what texts are like."""
    settled = {row["capture_id"]: Settled(row["leads"], row["steps"]) for row in before.toArrow().to_pylist()}
    earlier: dict[str, list[str]] = defaultdict(list)
    for row in likes.orderBy("later_time", "later").toArrow().to_pylist():
        earlier[row["later"]].append(row["earlier"])
    for later, some in earlier.items():
        found = duplicates.outcome([settled.get(one) for one in some])
        if found is not None and found.steps <= steps:
            settled[later] = found
    rows = [(capture_id, *one) for capture_id, one in settled.items()]
    return spark.createDataFrame(rows, staging.schema(_SETTLED_ROW))


def _settled(spark: SparkSession, output: str, steps: int) -> DataFrame:
    """What was settled in so many passes, the one before all others among them."""
    passes = [staging.read(spark, output, f"{_SETTLED}-{step}", _SETTLED_ROW) for step in range(steps)]
    return reduce(DataFrame.unionByName, passes)


def _settled_before(first: DataFrame, likes: DataFrame, laters: DataFrame) -> DataFrame:
    """The texts that others are like, and that are known or like none themselves."""
    earlier = likes.select(F.col("earlier").alias("capture_id"), "arrived").distinct()
    new = earlier.where(F.col("arrived") == _NEW).join(laters, on="capture_id", how="left_anti")
    leading = new.select("capture_id", F.lit(True).alias("leads"), F.lit(0).alias("steps"))
    known = first.where((F.col("arrived") == _KNOWN) & F.col("steps").isNotNull())
    asked = known.join(earlier.select("capture_id"), on="capture_id", how="left_semi")
    return leading.unionByName(asked.select("capture_id", F.col("duplicate_of").isNull().alias("leads"), "steps"))


def _next(likes: DataFrame, settled: DataFrame, step: int) -> DataFrame:
    """What is settled in one pass more."""
    is_open = likes.join(settled, on=F.col("later") == F.col("capture_id"), how="left_anti")
    seen = settled.where(F.col("steps") < step)
    beside = is_open.select("later", "earlier").join(seen, on=F.col("earlier") == F.col("capture_id"), how="left")
    judged = beside.groupBy("later").agg(
        F.bool_or(F.coalesce("leads", F.lit(False))).alias("any_leads"),
        F.bool_and(F.coalesce(~F.col("leads"), F.lit(False))).alias("none_leads"),
    )
    clear = judged.where(F.col("any_leads") | F.col("none_leads"))
    return clear.select(
        F.col("later").alias("capture_id"), F.col("none_leads").alias("leads"), F.lit(step).alias("steps")
    )


def of_texts(first: DataFrame, likes: DataFrame, settled: DataFrame) -> DataFrame:
    """What is said of each different text: its digest, its first capture, and its leader with that one's URL."""
    leading = settled.where("leads").select(F.col("capture_id").alias("earlier"))
    of_later = likes.join(leading, on="earlier", how="inner").groupBy("later")
    named = of_later.agg(F.min(F.struct("arrived", "timestamp", "earlier", "similarity")).alias("leader"))
    state = settled.select(F.col("capture_id").alias("later"), "leads", F.col("steps").alias("taken"))
    led = (
        likes.select("later")
        .distinct()
        .join(state, on="later", how="left")
        .join(named, on="later", how="left")
        .select(
            F.col("later").alias("capture_id"),
            F.lit(True).alias("is_like"),
            "taken",
            F.when(~F.col("leads"), F.col("leader.earlier")).alias("leader"),
            F.when(~F.col("leads"), F.col("leader.similarity")).alias("likeness"),
        )
    )
    taken = F.when(F.col("arrived") == _KNOWN, F.col("steps")).when(F.col("is_like"), F.col("taken")).otherwise(0)
    told = first.join(led, on="capture_id", how="left").select(
        "text_digest",
        F.col("capture_id").alias("first"),
        F.coalesce("duplicate_of", "leader").alias("leader"),
        F.coalesce("similarity", "likeness").alias("likeness"),
        taken.alias("steps"),
        F.col("url_key").alias("first_url"),
    )
    urls = first.select(F.col("capture_id").alias("leader"), F.col("url_key").alias("leader_url"))
    return told.join(urls, on="leader", how="left")


def _of_captures(every: DataFrame, told: DataFrame) -> DataFrame:
    """What is said of each new capture."""
    rows = every.select("task", "row_no", "url_key", "text_digest", *ORDER).join(told, on="text_digest", how="inner")
    group = F.coalesce("leader", "first")
    same_text = _is_later("group", "url_key", "text_digest")
    repeats = F.when(same_text, EXACT).when(_is_later("group", "url_key"), NEAR)
    placed = rows.withColumn("group", group).withColumn("repeats", repeats)
    is_copy = F.col("capture_id") != F.col("first")
    copy_of = F.when(is_copy, F.col("first"))
    url = F.when(F.col("leader").isNotNull(), F.col("leader_url")).when(is_copy, F.col("first_url"))
    return placed.where(F.col("arrived") == _NEW).select(
        "capture_id",
        "task",
        "row_no",
        F.coalesce("leader", copy_of).alias("duplicate_of"),
        F.coalesce("likeness", F.when(is_copy, 1.0)).alias("similarity"),
        F.coalesce(url == F.col("url_key"), F.lit(False)).alias("same_url"),
        copy_of.alias("copy_of"),
        "repeats",
        "steps",
    )


def _is_later(*keys: str) -> Column:
    """Whether another row of equal keys goes before."""
    return F.row_number().over(Window.partitionBy(*keys).orderBy(*ORDER)) > 1
