"""What reports in HTML are made with: templates that escape what they are given, and the style sheet of plots."""

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment(package: str) -> Environment:
    """The templates of a package; a name that they are not given is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def css() -> Markup:
    """The style sheet of plots, and of the pages that they stand in."""
    return Markup((files("dbce_spark.report.svg") / "templates" / "drawing.css").read_text(encoding="utf-8"))
