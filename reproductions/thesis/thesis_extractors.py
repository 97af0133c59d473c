"""The test cases T001 to T006 as extractors of gold pages.

`dbce evaluate --extractors reproductions.thesis.thesis_extractors:t006` scores one beside all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import single
from dbce_spark.dbce.kept import main_text
from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.extracting.joint_extractors import Setting
from dbce_spark.model import Annotation, Reject
from reproductions.thesis import learned_cases, prepared
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.phases import PHASES, Clock
from reproductions.thesis.prepared import Capture


@dataclass(frozen=True, slots=True)
class Extract:
    """The main text of a page, and the seconds of CPU that each phase took. With an error there is no text."""

    text: str
    seconds: Mapping[str, float]
    error: str


def extract(pages: Sequence[GoldPage], config: DbceConfig, name: str) -> dict[str, Extract]:
    """Extract the text of each page under one test case, by page id, each page beside the others.

    Raises:
        ConfigError: no test case has that name.
    """
    if name not in CASES:
        raise ConfigError(f"{name} is no test case of the thesis; known are {', '.join(CASES)}")
    archive = prepared.archive((page.fetch(at) for at, page in enumerate(pages)), config)
    annotations = prepared.annotations(archive, prepared.found_crosses(archive, config), config)
    texts = {
        capture_id: _text(one, annotations.get(capture_id, []), name) for capture_id, one in archive.captures.items()
    }
    return {
        page.page_id: texts[place] if isinstance(place, str) else _rejected(place)
        for page, place in zip(pages, archive.places, strict=True)
    }


def _rejected(reject: Reject) -> Extract:
    return Extract("", dict.fromkeys(PHASES, 0.0), f"{reject.reason}: {reject.detail}")


def _text(capture: Capture, annotations: Sequence[Annotation], name: str) -> Extract:
    clock = Clock()
    clock.seconds |= capture.clock.seconds
    blocks = capture.page.blocks
    if not annotations:
        return Extract(main_text.text(blocks.text, single.segments(blocks)), clock.seconds, "")
    nodes, labels = learned_cases.merged(capture.dom, blocks, annotations, CASES[name], clock)
    with clock.phase("merge"):
        text = learned_cases.text(capture.dom, blocks, nodes, labels)
    return Extract(text, clock.seconds, "")


def by_case(gold: Sequence[GoldPage], setting: Setting, case: str) -> dict[str, Extracted]:
    """Extract gold pages by a test case, each page with its own seconds."""
    found = extract(gold, setting.config, case)
    setting.advance(len(gold))
    return {page_id: Extracted(one.text, sum(one.seconds.values()), one.error) for page_id, one in found.items()}


t003, t004, t005, t006 = (partial(by_case, case=case) for case in ("T003", "T004", "T005", "T006"))
