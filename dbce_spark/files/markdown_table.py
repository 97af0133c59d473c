"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, rule: str | None = None) -> str:
    """Join a head and rows of cells to lines; `rule` is the line between them, by default three dashes a column."""
    return "\n".join([line(head), rule or line(["---"] * len(head)), *map(line, rows)])


def line(cells: Sequence[str]) -> str:
    """Join cells to a row."""
    return f"| {' | '.join(cells)} |"
