"""Count the rejects of an output by reason, and keep the first few of each."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.report.report_output import ReportOutput

EXAMPLES = 5
COLUMNS = ("warc_file", "warc_offset", "record_id", "url", "stage", "reason", "detail")
_ORDER = [(name, "ascending") for name in ("warc_file", "warc_offset", "url", "detail")]


@dataclass(slots=True)
class Rejects:
    """Counts by reason, and examples by reason in order of file and offset."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, pa.Table] = field(default_factory=dict)

    def listed(self) -> list[dict[str, Any]]:
        """List one entry a reason, most frequent first."""
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"reason": reason, "count": n, "examples": self.examples[reason].to_pylist()} for reason, n in ordered]


def read(output: ReportOutput) -> Rejects:
    """Read the rejects in one pass."""
    rejects = Rejects()
    for batch in output.batches("rejects", COLUMNS):
        table = pa.Table.from_batches([batch])
        for reason in pc.unique(table["reason"]).to_pylist():
            of_reason = table.filter(pc.equal(table["reason"], reason))
            rejects.counts[reason] += len(of_reason)
            earlier = [rejects.examples[reason]] if reason in rejects.examples else []
            rejects.examples[reason] = pa.concat_tables([*earlier, of_reason]).sort_by(_ORDER).slice(0, EXAMPLES)
    return rejects
