"""Find the main content of every page in a web archive by comparing it with its siblings, its past and its future."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbce_spark.dbce.extracted_page import (
        ExtractedBlock,
        ExtractedPage,
        extract,
        extract_archive,
        extract_pages,
    )
    from dbce_spark.dbce.page_table import extract_table
    from dbce_spark.errors import InputError
    from dbce_spark.html.about import About

__version__ = "0.1.0"
__all__ = [
    "About",
    "ExtractedBlock",
    "ExtractedPage",
    "InputError",
    "extract",
    "extract_archive",
    "extract_pages",
    "extract_table",
]


if not TYPE_CHECKING:  # a checker of types would take every name for one of the package

    def __getattr__(name: str) -> Any:
        """Load what the package gives when it is first asked for: a third of a second, which commands need not wait
        for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = "page_table" if name == "extract_table" else "extracted_page"
        return getattr(import_module(f"dbce_spark.dbce.{module}"), name)


def __dir__() -> list[str]:
    """List what the package gives, loaded or not."""
    return sorted({*globals(), *__all__})
