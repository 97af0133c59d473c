"""The load of today's sites beside their text: scripts by the kilobyte and a directory of links on every page."""

from dataclasses import replace
from functools import lru_cache
from random import Random

from benchmarks.samples.drawn_page import DrawnPage, link
from benchmarks.samples.sample_site import Site

LINKS = 40
"""Links of the directory at weight 1: at weight 6 a page has some 700 elements, the median of news sites."""
SCRIPT_BYTES = 20_000
"""Bytes of script at weight 1: at weight 6 a page has some 140 KB, the mean of news sites."""

_END = "</body>"


def weighed(drawn: DrawnPage, site: Site) -> DrawnPage:
    """Return the page with its site's directory and scripts put before the end of its body; at weight 0 as it was."""
    if not site.weight:
        return drawn
    directory = _directory(site)
    before, end, after = drawn.html.rpartition(_END)
    return replace(
        drawn,
        html=before + directory.html + _scripts(site) + end + after,
        blocks=[*drawn.blocks, *directory.blocks],
    )


@lru_cache(maxsize=256)
def _directory(site: Site) -> DrawnPage:
    dice = Random(f"{site.seed}/{site.host}/directory")
    drawn = DrawnPage()
    lines = ['<nav class="directory" style="columns: 6; font-size: 11px">']
    for column in range(site.weight * 2):
        lines.append(drawn.chrome("h4", site.sections[column % len(site.sections)]))
        lines.append('<ul class="list-unstyled directory__column">')
        for nth in range(LINKS // 2):
            words = " ".join(site.register.sentence(dice).split()[:3]).strip(",.;:!?")
            lines.append(drawn.chrome('li class="directory__item"', link(f"/directory/{column}/{nth}", words)))
        lines.append("</ul>")
    drawn.html = "\n".join([*lines, "</nav>\n"])
    return drawn


@lru_cache(maxsize=256)
def _scripts(site: Site) -> str:
    dice = Random(f"{site.seed}/{site.host}/scripts")
    lines, size = ["<script>"], 0
    while size < site.weight * SCRIPT_BYTES:
        a, b, c = (f"{dice.choice('abcdefghkmnpqrstuvwxyz')}{dice.randrange(1000)}" for _ in range(3))
        line = f"function {a}({b},{c}){{if({b}<{dice.randrange(10_000)}){{return {c}.{b}||{a}({c},{b})}}return !1}}"
        lines.append(line)
        size += len(line) + 1
    return "\n".join([*lines, "</script>\n"])
