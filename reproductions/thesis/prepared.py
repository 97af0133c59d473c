"""Captures that are ready for an experiment: parsed, with their DOM, crosses and annotations, and what that took."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbce_spark.annotation.markup import token_dom
from dbce_spark.annotation.markup.token_dom import Dom
from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, pages, sites
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.html import charset
from dbce_spark.model import Annotation, Cross, Hashes, Page, Reject
from reproductions.thesis.phases import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A page with its DOM, and the seconds that reading it took."""

    page: Page
    dom: Dom
    clock: Clock


@dataclass(frozen=True, slots=True)
class Archive:
    """Captures by id, each once, and what became of each fetch: its capture id or its reject."""

    captures: Mapping[str, Capture]
    places: Sequence[str | Reject]

    @property
    def tokens(self) -> dict[str, Hashes]:
        return {capture_id: one.page.blocks.tokens for capture_id, one in self.captures.items()}


def archive(fetches: Iterable[warc.Fetch], config: DbceConfig) -> Archive:
    """Parse the captures of these fetches."""
    captures: dict[str, Capture] = {}
    places: list[str | Reject] = []
    for fetch in fetches:
        clock = Clock()
        with clock.phase("prepare"):
            page = pages.parse_fetch(fetch, config)
            if isinstance(page, Page) and page.capture_id not in captures:
                html = charset.decode(fetch.html, fetch.capture.declared_charset).html
                captures[page.capture_id] = Capture(page=page, dom=token_dom.read(html, page.blocks), clock=clock)
        places.append(page.capture_id if isinstance(page, Page) else page)
    return Archive(captures, places)


def found_crosses(archive: Archive, config: DbceConfig) -> list[Cross]:
    """Choose the crosses as the method itself does, at most `cross.per_capture` a capture."""
    members = buckets.members(one.page for one in archive.captures.values())
    return [found.cross for found in sites.choose_crosses(members, config)]


def annotations(archive: Archive, chosen: Iterable[Cross], config: DbceConfig) -> dict[str, list[Annotation]]:
    """Annotate these crosses, by capture id. The time of each is added to the clock of its capture."""
    done: dict[str, list[Annotation]] = defaultdict(list)
    chosen = list(chosen)
    steps: Iterator[Annotation] = annotate(chosen, archive.tokens, exact_limit=config.diff.exact_limit)
    for cross in chosen:
        with archive.captures[cross.cur].clock.phase("annotate"):
            done[cross.cur].append(next(steps))
    return done
