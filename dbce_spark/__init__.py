"""Find the main content of every page in a web archive by comparing it with similar pages of its site, and with earlier
and later captures of its URL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbce_spark.dbce.extraction.extract_options import ExtractOptions, TableOptions
    from dbce_spark.dbce.extraction.extracted_page import ExtractedBlock, ExtractedPage, PageRecord
    from dbce_spark.dbce.extraction.page_extraction import extract, extract_archive, extract_pages
    from dbce_spark.dbce.extraction.page_table import extract_table
    from dbce_spark.errors import ConfigError, DbceError, InputError
    from dbce_spark.html.about import About

__version__ = "0.1.0"
__all__ = [
    "About",
    "ConfigError",
    "DbceError",
    "ExtractOptions",
    "ExtractedBlock",
    "ExtractedPage",
    "InputError",
    "PageRecord",
    "TableOptions",
    "extract",
    "extract_archive",
    "extract_pages",
    "extract_table",
]

_ELSEWHERE = {
    "About": "html.about",
    "ConfigError": "errors",
    "DbceError": "errors",
    "ExtractOptions": "dbce.extraction.extract_options",
    "ExtractedBlock": "dbce.extraction.extracted_page",
    "ExtractedPage": "dbce.extraction.extracted_page",
    "InputError": "errors",
    "PageRecord": "dbce.extraction.extracted_page",
    "TableOptions": "dbce.extraction.extract_options",
    "extract_table": "dbce.extraction.page_table",
}
"""The modules of what is not in that of `extract`."""


if not TYPE_CHECKING:  # a checker of types would take every name for one of the package

    def __getattr__(name: str) -> Any:
        """Load what the package gives when it is first asked for: a third of a second, which commands need not wait
        for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = _ELSEWHERE.get(name, "dbce.extraction.page_extraction")
        return getattr(import_module(f"dbce_spark.{module}"), name)


def __dir__() -> list[str]:
    """List what the package gives, loaded or not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
