"""Speed beside quality: a dot an extractor, as an SVG that stands by itself."""

import math
from collections.abc import Iterator, Sequence

from benchmarks.leaderboard import standings
from benchmarks.leaderboard.evaluations import Evaluation
from dbce_spark.evaluation.extracting.joint_extractors import is_ours
from dbce_spark.report import svg
from dbce_spark.report.svg import Axis

_WIDTH, _HEIGHT = 960, 560
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 36, 16, 48
_RADIUS = 4.5
_LETTER, _LINE = 6.3, 13
"""Width of a letter of a label, and height of its line."""
_STYLE = """<style>
svg { --ink: #1d2733; --soft: #66717d; --line: #dde3e9; --c0: #0b62a8; --c1: #d1561c; background: #fff }
text { font: 12px system-ui, sans-serif; fill: var(--ink) } .small { fill: var(--soft) } .grid { stroke: var(--line) }
@media (prefers-color-scheme: dark) {
  svg { --ink: #dfe5ec; --soft: #98a3af; --line: #313a45; --c0: #5fb0f5; --c1: #f58b57; background: #1b2027 }
}
</style>"""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom of a label."""


def draw(evaluation: Evaluation) -> str:
    """Draw F1 over the milliseconds of CPU that a page takes, on a logarithmic scale; ours in the first colour.

    A label that would cover another is left out, the lower F1 first; each dot has its title.
    """
    f1 = standings.overall(evaluation).f1.tolist()
    ms = [1000 * seconds for seconds in evaluation.seconds.mean(axis=1).tolist()]
    logs = [math.log10(max(one, 0.1)) for one in ms]
    across = Axis(math.floor(min(logs)), math.ceil(max(logs)), _LEFT, _WIDTH - _RIGHT)
    up = Axis(math.floor(min(f1) * 10) / 10, math.ceil(max(f1) * 10) / 10, _HEIGHT - _BOTTOM, _TOP)
    shown = sorted(zip(evaluation.extractors, map(across, logs), map(up, f1), strict=True), key=lambda one: one[2])
    titles = {
        name: f"{name}: {one:.3f}, {took:.1f} ms" for name, one, took in zip(evaluation.extractors, f1, ms, strict=True)
    }
    decades = [(at, f"{10**at:g} ms") for at in range(int(across.low), int(across.high) + 1)]
    body = [
        _STYLE,
        *svg.rules_upright(across, _TOP, _HEIGHT - _BOTTOM, decades),
        *svg.rules_across(up, _LEFT, _WIDTH - _RIGHT, ((tick, f"{tick:.1f}") for tick in up.ticks())),
        svg.text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, "CPU a page", "middle", "small"),
        svg.text(_LEFT, _TOP - 4, "F1", "end", "small"),
        *(svg.circle(x, y, _RADIUS, 1 - is_ours(name), titles[name]) for name, x, y in shown),
        *_labels(shown),
    ]
    return svg.svg(_WIDTH, _HEIGHT, body) + "\n"


def _labels(shown: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    """Write the names that have room right or left of their dots, from the top down."""
    taken: list[Box] = [(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for _, x, y in shown]
    for at, (name, x, y) in enumerate(shown):
        width = _LETTER * len(name)
        others = taken[:at] + taken[at + 1 :]
        for left, anchor in ((x + _RADIUS + 3, "start"), (x - _RADIUS - 3 - width, "end")):
            box = (left, y - _LINE / 2, left + width, y + _LINE / 2)
            if _LEFT <= box[0] and box[2] <= _WIDTH and not any(_overlap(box, other) for other in others):
                taken.append(box)
                yield svg.text(x + (_RADIUS + 3) * (1 if anchor == "start" else -1), y + 4, name, anchor)
                break


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
