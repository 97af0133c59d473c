"""The request for a run: what it reads, where it writes, and which state of a collection it extends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.output import stored_rows
from dbce_spark.output.collection import PENDING, RUN_FILE
from dbce_spark.spark.run import plan
from dbce_spark.spark.run.plan import Plan
from dbce_spark.spark.run.prior_state import EMPTY, PriorState
from dbce_spark.spark.run.single_files import FILE

EXISTS = "{} exists; give another --output, or --overwrite to replace it"
_EXTENDED = "{} exists: another run has extended the collection meanwhile; give the same command again"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The request for one run, its parameters aside. `started` is when the command began, by `time.monotonic`.

    File names in the `indexes` are relative to `base`; "": to the folder of their index. With `overwrite` it starts
    afresh, whatever an earlier run has left. `staging` is where stages hand on what the next needs; "": in the output.
    The output may be an increment of a collection that was labelled by `settings`; `prior` is what that holds before.
    """

    files: Sequence[str]
    output: str
    with_html: bool
    limit: int | None
    started: float
    indexes: Sequence[str] = ()
    base: str = ""
    overwrite: bool = False
    staging: str = ""
    prior: PriorState = EMPTY
    settings: dict[str, Any] | None = None

    @property
    def work(self) -> str:
        """The folder that holds the staging folder: on a file system that all workers have mounted."""
        return self.staging or self.output

    @property
    def is_increment(self) -> bool:
        return self.settings is not None

    @property
    def pending(self) -> Path:
        """The file of the revisits whose originals a collection lacks; there is none without a prior state."""
        return Path(self.prior.folders[-1], PENDING, FILE)

    @property
    def pending_revisits(self) -> int:
        """Count the revisits whose originals a collection lacks.

        Raises:
            OutputError: their file is broken.
        """
        return stored_rows.count_rows(str(self.pending)) if self.prior and self.pending.exists() else 0

    def keeps_html(self, config: DbceConfig) -> bool:
        """Tell whether the HTML of pages is kept until they are labelled: where annotated HTML, or a format made of it,
        is to be written."""
        return self.with_html or config.formats.need_html

    def plan(self, config: DbceConfig) -> Plan:
        made = plan.made(self.files, self.indexes, self.base, config, limit=self.limit)
        return replace(made, with_html=self.with_html, output=self.output if self.staging else "")

    def log_fields(self, config: DbceConfig) -> dict[str, Any]:
        """Return what a log holds of the run when it begins."""
        return {
            "files": len(self.files),
            "indexes": len(self.indexes),
            "output": self.output,
            "plan": self.plan(config).digest,
            "versions": plan.versions(),
        }

    def goes_on(self, config: DbceConfig) -> bool:
        """Return whether the output holds an unfinished run with the same plan.

        Raises:
            OutputError: the unfinished run has another plan, or the run is finished, and nothing may be overwritten.
        """
        if self.overwrite:
            return False
        if RUN_FILE in storage.list_names(self.output):
            raise OutputError((_EXTENDED if self.is_increment else EXISTS).format(self.output))
        return plan.is_begun(self.plan(config), self.work)
