"""Prepare the thesis's task: a cross to label, its `cur` cut into <dbce> elements, the neighbours beside it (thesis
4.1).

A line of a file of crosses is a page like others, whose segments are those elements, and holds besides what the test
cases T001 to T006 need: the arms, the occurrence bits, and the HTML of the neighbours, to be looked at.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dbce_spark.annotation.labels.labels_settings import LabelsSettings
from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.markup.dbce_elements import cut
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.token_dom import read as read_dom
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, pages, sites
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl, timestamps
from dbce_spark.files.jsonl import Fields, field
from dbce_spark.html import charset
from dbce_spark.model import ARMS, Annotation, Cross, Ints, Page, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNeighbour:
    """A page that is shown beside the one to label."""

    url: str
    date: str  # ISO 8601
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossTask:
    """A cross to label, with its page, its occurrence bits, and the HTML of its neighbours."""

    sheet: Sheet  # of `cur`; its id is that of the cross
    annotation: Annotation
    neighbours: Mapping[str, TaskNeighbour]  # by the arm, those that the cross has

    @property
    def cross(self) -> Cross:
        return self.annotation.cross


def annotate_crosses(fetches: Iterable[Fetch], config: DbceConfig) -> Iterator[CrossTask]:
    """Yield the crosses in which the method annotates these captures; captures without neighbours have none."""
    pages_by_id: dict[str, Page] = {}
    html_by_id: dict[str, bytes] = {}
    for fetch in fetches:
        page = pages.parse_fetch(fetch, config)
        if isinstance(page, Page) and page.capture_id not in pages_by_id:
            pages_by_id[page.capture_id] = page
            html_by_id[page.capture_id] = charset.decode(fetch.html, fetch.capture.declared_charset).html
    chosen = [one.cross for one in sites.choose_crosses(buckets.members(pages_by_id.values()), config)]
    tokens = {capture_id: page.blocks.tokens for capture_id, page in pages_by_id.items()}
    for annotation in annotate(chosen, tokens, exact_limit=config.diff.exact_limit):
        yield _make_task(annotation, pages_by_id, html_by_id)


def sample_tasks(tasks: Iterable[CrossTask], rules: LabelsSettings) -> list[CrossTask]:
    """Draw URLs of each site by chance, and for each URL crosses that differ in how many arms they have, the fullest
    first; return them by site and URL."""
    by_url: dict[str, dict[str, list[CrossTask]]] = defaultdict(lambda: defaultdict(list))
    for task in tasks:
        by_url[task.sheet.site][task.sheet.url_key].append(task)
    chosen = []
    for site in sorted(by_url):
        drawn = sorted(by_url[site], key=lambda url: digest(str(rules.seed), url))[: rules.urls_per_site]
        for url in sorted(drawn):
            ordered = sorted(by_url[site][url], key=lambda task: digest(str(rules.seed), task.cross.cross_id))
            by_arms = {len(task.neighbours): task for task in reversed(ordered)}
            chosen += [by_arms[count] for count in sorted(by_arms, reverse=True)][: rules.crosses_per_url]
    return chosen


def parse_neighbours(fields: Fields, place: str) -> dict[str, TaskNeighbour]:
    """Parse the neighbours in the line of a cross, by arm; `place` names the line in errors.

    Raises:
        InputError: it is no cross.
    """
    found = {}
    for arm, near in _object_in(fields, "neighbours", place).items():
        if arm not in ARMS[1:] or not isinstance(near, dict):
            raise InputError(f"{place}: no neighbour: {arm!r}; give a file that `dbce labels crosses` wrote")
        found[arm] = TaskNeighbour(**{name: field(near, name, "a text", place) for name in ("url", "date", "html")})
    return found


def _make_task(annotation: Annotation, pages_by_id: Mapping[str, Page], html_by_id: Mapping[str, bytes]) -> CrossTask:
    cross = annotation.cross
    page = pages_by_id[cross.cur]
    dom = read_dom(html_by_id[cross.cur], page.blocks)
    elements = cut(dom, annotation.per_token()[None, :])
    starts, ends = dom.token_starts[elements.starts].tolist(), dom.token_ends[elements.ends - 1].tolist()
    xpaths = [page.blocks.xpaths[block] for block in elements.blocks.tolist()]
    return CrossTask(
        sheet=Sheet(
            page=cross.cross_id,
            html=html_by_id[cross.cur].decode("utf-8", "replace"),
            text=page.blocks.text,
            segments=tuple(map(SegmentSpan, xpaths, starts, ends)),
            url=page.capture.url,
            site=page.capture.site,
            url_key=page.capture.url_key,
            date=_iso_time(page.capture.timestamp),
        ),
        annotation=annotation,
        neighbours={
            arm: TaskNeighbour(
                url=pages_by_id[capture_id].capture.url,
                date=_iso_time(pages_by_id[capture_id].capture.timestamp),
                html=html_by_id[capture_id].decode("utf-8", "replace"),
            )
            for arm, capture_id in zip(ARMS[1:], cross.arms[1:], strict=True)
            if capture_id
        },
    )


def _iso_time(timestamp: int) -> str:
    return timestamps.to_datetime(timestamp).isoformat() if timestamp else ""


def _as_fields(task: CrossTask) -> Fields:
    return {
        **page_file.as_fields(task.sheet),
        "cross": asdict(task.cross),
        "annotation": {"ends": task.annotation.ends.tolist(), "bits": task.annotation.bits.tolist()},
        "neighbours": {arm: asdict(near) for arm, near in task.neighbours.items()},
    }


def _from_fields(fields: Fields, place: str) -> CrossTask:
    cross, annotation = (_object_in(fields, name, place) for name in ("cross", "annotation"))
    try:
        ends: Ints = np.array(annotation["ends"], np.int32)
        return CrossTask(
            sheet=page_file.from_fields(fields, place),
            annotation=Annotation(cross=Cross(**cross), ends=ends, bits=np.array(annotation["bits"], np.uint8)),
            neighbours=parse_neighbours(fields, place),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{place}: no cross: {error}; give a file that `dbce labels crosses` wrote") from error


def _object_in(fields: Fields, name: str, place: str) -> Mapping[str, Any]:
    """Return the object in a field of a line."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise InputError(
            f"{place}: {name} must be an object, not {value!r}; give a file that `dbce labels crosses` wrote"
        )
    return value


_LINES = jsonl.LinesOf(_as_fields, _from_fields)
write, read = _LINES.write, _LINES.read
