"""Show the counts of a run among Spark's own metrics: whatever reads those has them while a run works.

They are accumulators, which Spark shows as a source of its metrics system (`LongAccumulatorSource`, made for this): no
sink and no port is of ours. Prometheus finds them where conf/spark-defaults.conf puts them.
"""

from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext

from dbce_spark.model import RejectReason
from dbce_spark.spark.run.record_counts import rejects_by_reason

WHOLE = (
    *("sources", "records", "captures", "revisits", "rejects", "failed_files"),
    *("parts", "extractions", "crossed", "single", "largest_bucket", "capped_buckets"),
    *(f"rejects_{reason}" for reason in RejectReason),
)
FRACTIONS = ("pages_per_second", "crossed_share")
_SOURCES = "org.apache.spark.metrics.source"
_of_application: dict[str, "Gauges"] = {}


def gauges_of(context: SparkContext) -> "Gauges":
    """Return the gauges of a Spark application, which keeps those that it has: a later run sets them again."""
    name = context.applicationId
    if name not in _of_application:
        _of_application[name] = Gauges(context)
    return _of_application[name]


def values(counts: Mapping[str, int], pages_per_second: float) -> dict[str, float]:
    """Render the counts of a run, and the rate of its stage, as values of the gauges."""
    rejects, crossed = rejects_by_reason(counts), counts.get("crossed", 0)
    extractions = crossed + counts.get("single", 0)
    return {
        **dict.fromkeys(WHOLE, 0),
        **{name: count for name, count in counts.items() if name in WHOLE},
        **{f"rejects_{reason}": count for reason, count in rejects.items()},
        "rejects": sum(rejects.values()),
        "extractions": extractions,
        "pages_per_second": round(pages_per_second, 3),
        "crossed_share": round(crossed / extractions, 6) if extractions else 0.0,
    }


class Gauges:
    """Hold the numbers that Spark shows as they are at the time."""

    def __init__(self, context: SparkContext):
        scala = context._jsc.sc()
        self._shown: dict[str, float] = dict.fromkeys((*WHOLE, *FRACTIONS), 0)
        self._accumulators = {name: scala.longAccumulator(name) for name in WHOLE}
        self._accumulators |= {name: scala.doubleAccumulator(name) for name in FRACTIONS}
        for kind, names in (("LongAccumulatorSource", WHOLE), ("DoubleAccumulatorSource", FRACTIONS)):
            of_kind = {name: self._accumulators[name] for name in names}
            _object(context, f"{_SOURCES}.{kind}").register(scala, _scala_map(context, of_kind))

    def show(self, values: Mapping[str, float]) -> None:
        """Set the gauges of these names. What stays as it is costs nothing."""
        for name, value in values.items():
            if more := value - self._shown[name]:
                self._accumulators[name].add(more)
                self._shown[name] = value


def _object(context: SparkContext, name: str) -> Any:
    """Return a Scala object by its name."""
    return getattr(getattr(context._jvm, f"{name}$"), "MODULE$")


def _scala_map(context: SparkContext, values: Mapping[str, Any]) -> Any:
    jvm: Any = context._jvm
    converted = jvm.scala.jdk.javaapi.CollectionConverters.asScala(jvm.java.util.HashMap(values))
    return getattr(_object(context, "scala.collection.immutable.Map"), "from")(converted)
