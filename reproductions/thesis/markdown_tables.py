"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def number(value: float) -> str:
    """A share with three places, without the zero before them: ".883"."""
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.3f}"
