"""F1 by the number of a page in its site, of streams beside the batch: tables and a plot, from results of
`dbce evaluate`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard import evaluations
from benchmarks.standing_plot import standing
from dbce_spark.errors import InputError
from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.extracting import gold_stream
from dbce_spark.evaluation.reporting import score_plots
from dbce_spark.evaluation.reporting.score_plots import Dot, Series
from dbce_spark.evaluation.reporting.score_tables import against, number
from dbce_spark.evaluation.scoring import stream_course
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Values
from dbce_spark.evaluation.scoring.stream_course import ALL, METHOD, StreamStep
from dbce_spark.files.markdown_table import table
from dbce_spark.log import counted
from dbce_spark.report import svg

ON_ARRIVAL = "dbce-site-pool"
"""The extractor that is shown site by site: the labels that a stream gives first."""

_PANEL = (540, 330)
"""Pixels across and down of a panel, with the room to the next."""
_LINE = 20
"""Pixels of a line of the legend."""

Rows = Mapping[str, int]
"""The places of the extractors that are shown, by their names; those that score alike on every page share a row."""


@dataclass(frozen=True, slots=True)
class StreamPart:
    """The scores of extractors by one meaning of content, pages in order of arrival."""

    content: str
    extractors: tuple[str, ...]  # the first is what the others are compared with
    pages: Sequence[GoldPage]
    f1: Values  # (extractors, pages)
    steps: tuple[StreamStep, ...]


def read(folders_of: Mapping[str, Sequence[str]], sets: Sets) -> list[StreamPart]:
    """Read the results by each meaning of content, those of its folders together, in the order of the sets' pages.

    Raises:
        InputError: a folder holds no results, or not those of all pages, or two parts are of other extractors.
    """
    parts = [_part(content, folders, sets) for content, folders in folders_of.items()]
    for part in parts:
        if part.extractors != parts[0].extractors:
            raise InputError(
                f"{part.content} has results of {', '.join(part.extractors)}, and {parts[0].content} of"
                f" {', '.join(parts[0].extractors)}; run the same extractors in the same order"
            )
    return parts


def text(parts: Sequence[StreamPart]) -> str:
    """Write the tables: by the number of a page in its site, and of the last of these steps by site."""
    return "\n\n".join([_by_step(parts), *_by_site(parts)])


def draw(parts: Sequence[StreamPart]) -> str:
    """Draw F1 by the number of a page in its site: a column a part, with a panel of all extractors above one of those
    that would lie too close together there."""
    across, down = _PANEL
    rows = _rows(parts)
    panels = [list(rows), [name for name in rows if not name.startswith(METHOD)]]
    shown = [names for at, names in enumerate(panels) if names and names not in panels[:at]]
    body: list[str] = []
    for row, names in enumerate(shown):
        for column, part in enumerate(parts):
            drawing = _panel(part, rows, names)
            body.append(svg.placed(drawing, (across * column, down * row), (across, down - 10)))
    top = down * len(shown) + _LINE
    for colour, name in enumerate(rows):
        body.append(svg.circle(50, top + _LINE * colour, 4.5, colour, name))
        body.append(svg.text(62, top + _LINE * colour + 4, name, "start"))
    return standing((across * len(parts), top + _LINE * len(rows)), body)


def _part(content: str, folders: Sequence[str], sets: Sets) -> StreamPart:
    scored = evaluations.read(folders, MAIN_METRIC)
    place = {(page.dataset, page.page_id): at for at, page in enumerate(scored.pages)}
    pages = stream_course.arrivals(sets)
    if missing := [page for page in pages if (page.dataset, page.page_id) not in place]:
        raise InputError(
            f"{', '.join(folders)}: not all extractors have scores of page {missing[0].page_id} of"
            f" {missing[0].dataset}; give the sets that they were run on"
        )
    f1 = scored.f1[:, [place[page.dataset, page.page_id] for page in pages]]
    return StreamPart(content, scored.extractors, pages, f1, stream_course.steps(f1, pages))


def _rows(parts: Sequence[StreamPart]) -> Rows:
    alike: dict[bytes, list[int]] = defaultdict(list)
    for at, values in enumerate(np.concatenate([part.f1 for part in parts], axis=1)):
        alike[values.tobytes()].append(at)
    names = parts[0].extractors
    return {", ".join(names[at] for at in places): places[0] for places in alike.values()}


def _by_step(parts: Sequence[StreamPart]) -> str:
    first, rows = parts[0], _rows(parts)
    heads = (f"{one.name}: {counted(one.pages, 'page')} of {counted(one.domains, 'site')}" for one in first.steps)
    lines = (
        (part.content, name, *(_cell(step, at) for step in part.steps)) for part in parts for name, at in rows.items()
    )
    return table(("content", f"extractor, and less {first.extractors[0]}", *heads), lines)


def _cell(step: StreamStep, at: int) -> str:
    difference = f"<br>{against(step.differences[at])[0]}" if at else ""
    return f"{number(step.f1[at])}{difference}"


def _by_site(parts: Sequence[StreamPart]) -> Iterator[str]:
    """Show the sites of the last step one by one, the largest first, if labels on arrival were scored."""
    first = parts[0]
    if ON_ARRIVAL not in first.extractors:
        return
    last = first.steps[-2].name  # behind it are all pages
    of_site: dict[str, list[int]] = defaultdict(list)
    for at, nth in enumerate(stream_course.positions(first.pages)):
        if nth >= stream_course.POSITIONS[last]:
            of_site[gold_stream.domain(first.pages[at])].append(at)
    heads = (
        head for part in parts for head in (f"{part.content}: {part.extractors[0]}", f"{ON_ARRIVAL} less it", "sum")
    )
    lines = (
        (site, f"{len(places):,}", *(cell for part in parts for cell in _site_cells(part, places)))
        for site, places in sorted(of_site.items(), key=lambda one: (-len(one[1]), one[0]))
    )
    yield table((f"pages {last} of", "pages", *heads), lines)


def _site_cells(part: StreamPart, places: Sequence[int]) -> tuple[str, ...]:
    batch, arrival = part.f1[0, places], part.f1[part.extractors.index(ON_ARRIVAL), places]
    return number(float(batch.mean())), f"{(arrival - batch).mean():+.3f}", f"{(arrival - batch).sum():+.2f}"


def _panel(part: StreamPart, rows: Rows, names: Sequence[str]) -> str:
    """Draw the lines of some rows, in the colours that they have among all."""
    steps = [step for step in part.steps if step.name != ALL]
    series = [
        Series(
            name,
            colour,
            [Dot(f"{part.content}, pages {step.name}", step.f1[at], step.intervals[at], colour) for step in steps],
        )
        for colour, (name, at) in enumerate(rows.items())
        if name in names
    ]
    heads = [f"{step.name} ({step.pages:,})" for step in steps]
    return score_plots.line_plot(heads, series, f"{part.content}: number of the page in its site (pages)")
