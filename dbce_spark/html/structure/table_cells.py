"""Tables as Markdown can hold them: as many cells in each row, and no block in a cell."""

from collections.abc import Iterator

from dbce_spark.html.structure.clean_element import CleanElement

MAX_GRID = 100_000
"""Cells of a table that is made square. A larger one stays as it is: one long row would lengthen all short ones."""

_BLOCKS = frozenset("blockquote dd details dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre summary ul".split())
_DASH = "- "
_Line = list[str | CleanElement]


def square_tables(article: CleanElement) -> None:
    """Give each row as many cells as its table has columns: a cell that spans others leaves empty ones behind. Blocks
    in a cell become lines.

    A span is as wide as the row of most cells at most. A table that has too many cells so stays as it is.
    """
    for table in article.find("table"):
        rows = [*table.find("tr")]
        most = max((len(row.parts) for row in rows), default=0)
        if most * len(rows) > MAX_GRID:
            continue
        for group in table.children():  # no cell spans rows of two
            above = [0] * most  # of each column, how many more rows a cell above fills
            for row in group.find("tr"):
                for cell in row.children():
                    _line_up(cell)
                row.parts = [*_squared(row.children(), above)]


def _line_up(cell: CleanElement) -> None:
    """Put line breaks between the blocks of a cell, in their place."""
    if any(map(_is_block, cell.parts)):
        lines = [line for line in _lines(cell) if any(not isinstance(part, str) or part.strip() for part in line)]
        cell.parts = [part for line in lines for part in (CleanElement("br", {}), *line)][1:]


def _is_block(part: str | CleanElement) -> bool:
    return isinstance(part, CleanElement) and (part.tag in _BLOCKS or part.attributes.get("display") == "block")


def _lines(block: CleanElement) -> list[_Line]:
    """List the lines of a block: one of each block in it, of code those of the code; a dash begins an item's."""
    if block.tag == "pre":
        source = "".join(str(part) for code in block.children() for part in code.parts)
        return [[CleanElement("code", {}, [_indented(line)])] for line in source.split("\n") if line.strip()]
    if block.tag == "formula":
        return [[CleanElement("formula", {}, block.parts)]]
    lines: list[_Line] = [[]]
    for part in block.parts:
        if isinstance(part, CleanElement) and _is_block(part):
            lines += [*_lines(part), []]
        else:
            lines[-1].append(part)
    first = next(filter(None, lines), None)
    if block.tag == "li" and first and first[0] != _DASH:
        first.insert(0, _DASH)
    return lines


def _indented(line: str) -> str:
    """Indent a line of code by spaces that do not break: of others one would be left."""
    code = line.lstrip()
    return "\xa0" * (len(line) - len(code)) + code


def _squared(found: list[CleanElement], above: list[int]) -> Iterator[CleanElement]:
    """Iterate over the cells of a row, and those that it lacks: for cells that span it, and to end it."""
    missing = len(above) - len(found)
    cells = iter(found)
    across = down = 0  # columns and rows that the last cell goes on for
    for at, rows in enumerate(above):
        above[at] = max(rows - 1, 0)
        cell = None if missing and (across or rows) else next(cells, None)
        if cell is None:
            missing -= 1
            if across:
                across, above[at] = across - 1, max(above[at], down)
            yield CleanElement("td", {})
        else:
            across = int(cell.attributes.pop("colspan", "1")) - 1
            down = (int(cell.attributes.pop("rowspan", "1")) or MAX_GRID) - 1  # 0: all that follow
            above[at] = max(above[at], down)
            yield cell
