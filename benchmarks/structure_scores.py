"""Tables, code and links that extractors keep as Markdown, beside those of the page that are in its gold text.

What is wanted is the page's own: a table with header cells, a block of code, a link, whose text is in the gold text.
So no extractor's opinion of Markdown is the measure.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urljoin

from lxml import html as lxml_html
from markdown_it import MarkdownIt
from rapidfuzz.distance import Levenshtein

import dbce_spark
from dbce_spark.evaluation import formats
from dbce_spark.evaluation.node import NodePage
from dbce_spark.files import markdown_table

Table = list[list[str]]
Extractor = Callable[[str], str]

PAGE_URL = "http://page.example/a/b"
"""Of every page: gold sets do not always have theirs, and each extractor resolves links against the same."""
_IN_GOLD = 0.9
"""Share of the letters of a table or of code that are in the gold text, part by part."""
_LONG_LINK = 10
"""Letters of a link's text from which on it is looked for; a shorter one is in any text by chance."""
_MOST_CELLS = 2_000
"""Of a table that is compared: the time grows with the square of their number."""
_RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(slots=True)
class Structure:
    """Tables, lines of code and addresses of links, of a page or of Markdown."""

    tables: list[Table] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)
    links: set[str] = field(default_factory=set)


def measure(paths: Iterable[str], names: Sequence[str]) -> str:
    """Score extractors on the pages of gold sets that have structure; return a table in Markdown."""
    pages = [entry.fields for path in paths for entry in formats.entries(path)]
    wanted = [(page["html"], *_wanted(page["html"], page["gold"])) for page in pages]
    wanted = [one for one in wanted if one[1].tables or one[1].lines or one[1].links]
    counts = [sum(bool(getattr(one[1], name)) for one in wanted) for name in ("tables", "lines", "links")]
    rows = []
    for name in names:
        extract = EXTRACTORS[name]()
        scores: dict[str, list[float]] = defaultdict(list)
        for html, structure, allowed in wanted:
            for kind, score in _scores(_of_markdown(_answer(extract, html)), structure, allowed).items():
                scores[kind].append(score)
        means = (sum(scores[kind]) / max(len(scores[kind]), 1) for kind in ("tables", "code", "links"))
        rows.append([name, *(f"{mean:.3f}" for mean in means)])
    head = ["", *(f"{kind} ({count})" for kind, count in zip(("tables", "code", "links"), counts, strict=True))]
    return markdown_table.table(head, rows)


def teds(one: Table, other: Table) -> float:
    """Compare two tables by the edit distance of their trees (TEDS), rows being matched as a whole.

    1 for the same; a cell costs 1, and a cell in the place of another the share of its letters that differ.
    """
    size = max(_nodes(one), _nodes(other))
    return 1 - _edits(one, other, cost=lambda row: 1 + len(row), change=_row_edits) / size


def _nodes(table: Table) -> int:
    return 1 + sum(1 + len(row) for row in table)


def _row_edits(one: Sequence[str], other: Sequence[str]) -> float:
    return _edits(one, other, cost=lambda _: 1, change=Levenshtein.normalized_distance)


def _edits(
    one: Sequence[Any], other: Sequence[Any], cost: Callable[[Any], float], change: Callable[[Any, Any], float]
) -> float:
    """Compute the edit distance of two sequences."""
    above = [0.0]
    for item in other:
        above.append(above[-1] + cost(item))
    for first in one:
        line = [above[0] + cost(first)]
        for at, second in enumerate(other):
            line.append(min(above[at + 1] + cost(first), line[-1] + cost(second), above[at] + change(first, second)))
        above = line
    return above[-1]


def _wanted(html: str, gold: str) -> tuple[Structure, set[str]]:
    """Find what of a page's structure is in its gold text, and the addresses of all links that are."""
    root: Any = lxml_html.document_fromstring(
        html.encode("utf-8", "replace"), parser=lxml_html.HTMLParser(encoding="utf-8")
    )
    whole, squeezed = _of_tree(root), "".join(gold.split())
    links = {
        (_resolved(link.get("href")), _squeezed(link.text_content())) for link in root.iter("a") if link.get("href")
    }
    kept = {address for address, text in links if text and text in squeezed}
    named = {address for address, text in links if len(text) >= _LONG_LINK and text in squeezed}
    tables = [table for table in whole.tables if _is_in([cell for row in table for cell in row], squeezed)]
    lines = whole.lines if _is_in([*whole.lines], squeezed) else Counter[str]()
    return Structure(tables, lines, {one for one in named if one.startswith("http") and "#" not in one}), kept


def _is_in(parts: Sequence[str], squeezed: str) -> bool:
    letters = [_squeezed(part) for part in parts]
    total = sum(map(len, letters))
    return total > 0 and sum(len(one) for one in letters if one in squeezed) >= _IN_GOLD * total


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _of_markdown(markdown: str) -> Structure:
    return _of_tree(lxml_html.fromstring(f"<div>{_RENDERER.render(markdown)}</div>"))


def _of_tree(root: Any) -> Structure:
    found = Structure()
    for table in root.iter("table"):
        if next(table.iter("th"), None) is not None and next(table.iterdescendants("table"), None) is None:
            rows = [[_folded(cell) for cell in row.iter("td", "th")] for row in table.iter("tr")]
            rows = [row for row in rows if any(row)]
            if 1 < len(rows) and sum(map(len, rows)) <= _MOST_CELLS:
                found.tables.append(rows)
    for pre in root.iter("pre"):
        for line_break in pre.iter("br"):
            line_break.tail = "\n" + (line_break.tail or "")
        found.lines.update(line.rstrip() for line in pre.text_content().split("\n") if line.strip())
    for link in root.iter("a"):
        if link.get("href"):
            found.links.add(_resolved(link.get("href")))
    return found


def _resolved(href: str) -> str:
    """Resolve a link; "" if it is no address, which nobody has to keep."""
    try:
        return urljoin(PAGE_URL, href)
    except ValueError:
        return ""


def _folded(cell: Any) -> str:
    return " ".join(cell.text_content().split())


def _scores(found: Structure, wanted: Structure, allowed: set[str]) -> dict[str, float]:
    """Score what was found, by kind; a kind of which nothing is wanted has no score."""
    scores: dict[str, float] = {}
    if wanted.tables:
        scores["tables"] = _tables(found.tables, wanted.tables)
    if wanted.lines:
        scores["code"] = 2 * (found.lines & wanted.lines).total() / (found.lines.total() + wanted.lines.total())
    if wanted.links:
        right, recall = len(found.links & allowed), len(found.links & wanted.links) / len(wanted.links)
        precision = right / len(found.links) if found.links else 0.0
        scores["links"] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return scores


def _tables(found: Sequence[Table], wanted: Sequence[Table]) -> float:
    """Sum up TEDS of the tables that are most alike, each once, and divide by the mean number of tables."""
    pairs = sorted(
        ((teds(one, other), at, to) for at, one in enumerate(wanted) for to, other in enumerate(found)), reverse=True
    )
    used: set[tuple[str, int]] = set()
    total = 0.0
    for score, at, to in pairs:
        if not {("wanted", at), ("found", to)} & used:
            used |= {("wanted", at), ("found", to)}
            total += score
    return 2 * total / (len(found) + len(wanted))


def _answer(extract: Extractor, html: str) -> str:
    try:
        return extract(re.sub(r"[\x00\ud800-\udfff]", " ", html))
    except Exception:  # an extractor that fails on a page has kept nothing of it
        return ""


def _dbce() -> Extractor:
    return lambda html: dbce_spark.extract(html, url=PAGE_URL).markdown


def _trafilatura() -> Extractor:
    import trafilatura

    extract = partial(
        trafilatura.extract, url=PAGE_URL, output_format="markdown", include_links=True, include_formatting=True,
        include_images=True, include_comments=False,
    )  # fmt: skip
    return lambda html: extract(html) or ""


def _resiliparse() -> Extractor:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html: str(extract_plain_text(html, main_content=True, links=True))


def _html_to_markdown() -> Extractor:
    from html_to_markdown import convert

    return lambda html: str(getattr(convert(html), "content", None) or "")


def _defuddle() -> Extractor:
    page = NodePage("defuddle-markdown")
    return lambda html: page(html, "")


EXTRACTORS: Mapping[str, Callable[[], Extractor]] = {
    "dbce": _dbce,
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "html-to-markdown": _html_to_markdown,
    "defuddle": _defuddle,
}
"""The extractors by their names; html-to-markdown is given the whole page."""
