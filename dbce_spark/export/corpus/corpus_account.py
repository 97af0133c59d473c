"""Count the outcome of every extraction, kept or removed by which filter: in all, by site and by language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbce_spark.export.corpus.corpus_filters import Filter
from dbce_spark.files import markdown_table

SITES = 1_000
"""Sites that are told one by one, those with most captures: an archive may have millions."""
_Fates = Counter[int]
"""How many rows had which fate, as `filters.fates` says it."""


@dataclass(slots=True)
class CorpusAccount:
    """The counts of some rows. Sites are counted one site part at a time, whose sites it holds."""

    filters: Sequence[Filter]
    fates: _Fates = field(default_factory=Counter)
    words: _Fates = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    """Of the rows that are kept."""
    languages: dict[str, _Fates] = field(default_factory=dict)
    sites: dict[str, _Fates] = field(default_factory=dict)
    site_count: int = 0
    largest: list[tuple[int, str, _Fates]] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch, fates: npt.NDArray[np.intp]) -> None:
        """Count some rows."""
        numbers = fates.tolist()
        self.fates.update(numbers)
        for number, words in zip(numbers, batch.column("text_words").to_pylist(), strict=True):
            self.words[number] += words
        for name, counts in (("language", self.languages), ("site", self.sites)):
            for value, number in zip(batch.column(name).to_pylist(), numbers, strict=True):
                counts.setdefault(value, Counter())[number] += 1
        for status, number in zip(batch.column("status").to_pylist(), numbers, strict=True):
            self.statuses[status] += number == len(self.filters)

    def end_part(self) -> None:
        """End a site part: rank its sites, of which no more rows come."""
        some = [(sum(fates.values()), site, fates) for site, fates in self.sites.items()]
        self.largest = nlargest(SITES, [*self.largest, *some], key=lambda one: (one[0], one[1]))
        self.site_count += len(some)
        self.sites = {}

    @property
    def left(self) -> int:
        return self.fates[len(self.filters)]

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain values, for corpus.json."""
        languages = sorted(self.languages.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        return {
            **self._counts(self.fates),
            "words": self._counts(self.words),
            "filters": [{"filter": one.name, "keeps": one.keeps} for one in self.filters],
            "by_language": {name: self._counts(fates) for name, fates in languages},
            "sites": self.site_count,
            "by_site": {site: self._counts(fates) for _, site, fates in self.largest},
        }

    def _counts(self, fates: Mapping[int, int]) -> dict[str, Any]:
        return {
            "in": sum(fates.values()),
            "removed": {one.name: fates.get(at, 0) for at, one in enumerate(self.filters)},
            "left": fates.get(len(self.filters), 0),
        }

    def markdown(self) -> str:
        """Write a table of what each filter removed of what those before had left."""
        rows = [
            ["", "keeps", "captures", "of these", "words"],
            ["---", "---", "---:", "---:", "---:"],
            ["in", "", f"{self.fates.total():,}", "", f"{self.words.total():,}"],
        ]
        before = self.fates.total()
        for at, one in enumerate(self.filters):
            gone = self.fates[at]
            share = f"{gone / before:.1%}" if before else ""
            rows.append([f"- {one.name}", one.keeps, f"-{gone:,}", share, f"-{self.words[at]:,}"])
            before -= gone
        rows.append(["left", "", f"{before:,}", "", f"{self.words[len(self.filters)]:,}"])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head, rule, *rest = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
        return markdown_table.table(head, rest, rule=markdown_table.line(rule))
