"""Count the outcome of every extraction, kept or removed by which filter: in all, by site and by language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.export import row_filters
from dbce_spark.export.row_filters import Filter, Values
from dbce_spark.files import markdown_table

SITES = 1_000
"""Sites that are listed one by one, those with most captures: an archive may have millions."""
_Outcomes = Counter[int]
"""The number of rows of each outcome, by the number that `row_filters.outcomes` gives it."""


@dataclass(slots=True)
class CorpusAccount:
    """The counts of some rows. Sites are counted one site part at a time, whose sites it holds."""

    filters: Sequence[Filter]
    outcomes: _Outcomes = field(default_factory=Counter)
    words: _Outcomes = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    """Of the rows that are kept."""
    formats: Counter[str] = field(default_factory=Counter)
    """Of the rows that are kept, those that have each format that is written."""
    values: Values = field(default_factory=dict)
    """Of all rows, where filters list them."""
    languages: dict[str, _Outcomes] = field(default_factory=dict)
    sites: dict[str, _Outcomes] = field(default_factory=dict)
    site_count: int = 0
    largest: list[tuple[int, str, _Outcomes]] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch, outcomes: npt.NDArray[np.intp]) -> None:
        """Count some rows."""
        row_filters.count_values(self.values, batch, self.filters)
        numbers = outcomes.tolist()
        self.outcomes.update(numbers)
        for number, words in zip(numbers, batch.column("text_words").to_pylist(), strict=True):
            self.words[number] += words
        for name, counts in (("language", self.languages), ("site", self.sites)):
            for value, number in zip(batch.column(name).to_pylist(), numbers, strict=True):
                counts.setdefault(value, Counter())[number] += 1
        for status, number in zip(batch.column("status").to_pylist(), numbers, strict=True):
            self.statuses[status] += number == len(self.filters)
        is_kept = outcomes == len(self.filters)
        for name in FORMATS:
            if name in batch.schema.names:
                self.formats[name] += int(batch.column(name).is_valid().to_numpy(zero_copy_only=False)[is_kept].sum())

    def end_part(self) -> None:
        """End a site part: rank its sites, of which no more rows come."""
        ranked = [(sum(outcomes.values()), site, outcomes) for site, outcomes in self.sites.items()]
        self.largest = nlargest(SITES, [*self.largest, *ranked], key=lambda one: (one[0], one[1]))
        self.site_count += len(ranked)
        self.sites = {}

    @property
    def left(self) -> int:
        """Count the rows that are kept."""
        return self.outcomes[len(self.filters)]

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain values, for corpus.json."""
        languages = sorted(self.languages.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        return {
            **self._counts(self.outcomes),
            "words": self._counts(self.words),
            "formats": dict(+self.formats),
            "filters": [{"filter": one.name, "keeps": one.keeps} for one in self.filters],
            "by_language": {name: self._counts(outcomes) for name, outcomes in languages},
            "sites": self.site_count,
            "by_site": {site: self._counts(outcomes) for _, site, outcomes in self.largest},
        }

    def _counts(self, outcomes: Mapping[int, int]) -> dict[str, Any]:
        return {
            "in": sum(outcomes.values()),
            "removed": {one.name: outcomes.get(at, 0) for at, one in enumerate(self.filters)},
            "left": outcomes.get(len(self.filters), 0),
        }

    def markdown(self) -> str:
        """Write a table of what each filter removed of what those before had left."""
        rows = [
            ["", "keeps", "captures", "of these", "words"],
            ["---", "---", "---:", "---:", "---:"],
            ["in", "", f"{self.outcomes.total():,}", "", f"{self.words.total():,}"],
        ]
        before = self.outcomes.total()
        for at, one in enumerate(self.filters):
            gone = self.outcomes[at]
            share = f"{gone / before:.1%}" if before else ""
            rows.append([f"- {one.name}", one.keeps, f"-{gone:,}", share, f"-{self.words[at]:,}"])
            before -= gone
        rows.append(["left", "", f"{before:,}", "", f"{self.words[len(self.filters)]:,}"])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head, rule, *rest = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
        return markdown_table.table(head, rest, rule=markdown_table.line(rule))
