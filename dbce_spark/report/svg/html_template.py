"""Load the templates of reports in HTML, which escape their values, and the style sheet of plots."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def environment(package: str) -> Environment:
    """Load the templates of a package; a missing value is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def template(package: str, name: str) -> Template:
    """Load a template of a package."""
    return environment(package).get_template(name)


def css() -> Markup:
    """Read the style sheet of plots, and of the pages around them."""
    return Markup((files("dbce_spark.report.svg") / "templates" / "drawing.css").read_text(encoding="utf-8"))


def colours() -> str:
    """Read the variables of that style sheet, on light and on dark: for a drawing that stands by itself."""
    return css().partition("\n* {")[0]
