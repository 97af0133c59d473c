"""The method on Spark: the only package that imports pyspark. `extract` does it for a DataFrame of pages."""

from typing import TYPE_CHECKING, Any

from dbce_spark.errors import PlatformError, installs

if TYPE_CHECKING:
    from dbce_spark.spark.jobs.page_frame import extract

__all__ = ["extract"]

_OF_EXTRA = ("pyspark", "py4j", "pandas")


if not TYPE_CHECKING:  # a checker of types would take every name for one of the package

    def __getattr__(name: str) -> Any:
        """Load `extract` when it is first asked for: a small run and its status need no PySpark."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            from dbce_spark.spark.jobs import page_frame
        except ModuleNotFoundError as error:
            if error.name not in _OF_EXTRA:
                raise
            raise PlatformError(f"dbce_spark.spark needs {error.name}: {installs('spark')}") from error
        return getattr(page_frame, name)


def __dir__() -> list[str]:
    """List what the package gives, loaded or not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
