"""Topics of pages, by their words: a stand-in for table 3.2 of the study, whose categories Google's service gave.

That service is a model of others behind a network, and costs money by the page; no model of its kind comes with a
package. So each of the study's categories has some English words here (topics.toml), and a page is about the one whose
words its gold holds most of. It is no classifier to rely on: `measure` counts on pages that name their own section how
often it is right.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.files.markdown_table import table
from reproductions.study.study_pages import StudyPages

UNKNOWN = "not known"

MIN_WORDS = 3
"""Different words of a category that a page must hold to be about it."""

MIN_PAGES = 10
"""Pages from which on a category has figures of its own."""

_CATEGORIES = tomllib.loads(Path(__file__).with_name("topics.toml").read_text("utf-8"))

PUBLISHED: Mapping[str, int] = {name: one["pages"] for name, one in _CATEGORIES.items()}
"""Pages by category in table 3.2, which announces 28 categories and prints 27."""

TOPICS: Mapping[str, frozenset[str]] = {name: frozenset(one["words"].split()) for name, one in _CATEGORIES.items()}
"""Words by category."""

_TOPIC_OF_SECTION = {section: name for name, one in _CATEGORIES.items() for section in one["sections"].split()}

_DECLARED = re.compile(
    r"""property=["']article:section["'][^>]*content=["']([^"']+)|"articleSection"\s*:\s*\[?\s*"([^"]+)""", re.I
)


def topic(text: str) -> str:
    """Name the category whose words a text holds most of, each word counting less the more often it stands there;
    UNKNOWN where it holds fewer than three of any."""
    counts = Counter(words(text))
    found = {name: [counts[word] for word in some if word in counts] for name, some in TOPICS.items()}
    enough = {name: sum(np.log1p(some)) for name, some in found.items() if len(some) >= MIN_WORDS}
    return max(enough, key=lambda name: (enough[name], name)) if enough else UNKNOWN


def declared(page: GoldPage) -> str:
    """Name the category of the section that a page says it is of, in its head or else in the path of its URL; "" where
    it says none that is known."""
    match = _DECLARED.search(page.html)
    named = (match[1] or match[2]).lower() if match else ""
    for name in (named.replace(" ", ""), *named.split(), *page.url.lower().split("/")[3:-1]):
        if name in _TOPIC_OF_SECTION:
            return _TOPIC_OF_SECTION[name]
    return ""


def measure(pages: Iterable[GoldPage], named: Iterable[str]) -> tuple[int, int, int]:
    """Count the pages that name their section, those of them that have a category by `topic`, and those where it is the
    same. named: of each page, by `topic`."""
    pairs = [(section, name) for page, name in zip(pages, named, strict=True) if (section := declared(page))]
    categorised = [(section, name) for section, name in pairs if name != UNKNOWN]
    return len(pairs), len(categorised), sum(section == name for section, name in categorised)


def report(of: StudyPages) -> str:
    """Lay out the pages of each category, and the extractors that are best on them."""
    named = [topic(page.gold) for page in of.pages]
    rows = []
    for name, count in sorted(Counter(named).items(), key=lambda item: (item[0] == UNKNOWN, -item[1], item[0])):
        places = np.array([one == name for one in named])
        means = of.f1[:, places].mean(axis=1)
        order = np.argsort(-means, kind="stable")[:3]
        firsts = ", ".join(f"{of.extractors[at]} {means[at]:.3f}" for at in order) if count >= MIN_PAGES else ""
        published = PUBLISHED.get(name)
        of_study = f"{100 * published / sum(PUBLISHED.values()):.1f} %" if published else ""
        rows.append((name, f"{count:,}", f"{100 * count / len(named):.1f} %", of_study, f"{means[0]:.3f}", firsts))
    head = ("category", "pages", "share", "share in the study", of.extractors[0], "best")
    sections, categorised, right = measure(of.pages, named)
    return f"{table(head, rows)}\n\n{_accuracy(sections, categorised, right)}"


def _accuracy(sections: int, categorised: int, right: int) -> str:
    if not categorised:
        return "No page names its section: how often these categories are right is not known."
    return (
        f"Of {sections:,} pages that name their own section, {categorised:,} have a category by their words, and"
        f" {right:,} of these ({100 * right / categorised:.0f} %) the category of their section."
    )
