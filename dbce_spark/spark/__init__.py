"""The method on Spark: the only package that imports pyspark. `extract` does it for a DataFrame of pages."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbce_spark.spark.jobs.page_frame import extract

__all__ = ["extract"]


def __getattr__(name: str) -> Any:
    """Load `extract` when it is first asked for: a small run and its status need no PySpark."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dbce_spark.spark.jobs import page_frame

    return getattr(page_frame, name)
