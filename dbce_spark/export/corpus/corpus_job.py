"""Write a corpus: one pass over the extractions of an output, some rows at a time, without Spark."""

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.config import CorpusConfig
from dbce_spark.errors import InputError, OutputError
from dbce_spark.export.corpus import corpus_source
from dbce_spark.export.corpus.corpus_account import CorpusAccount
from dbce_spark.export.corpus.corpus_filters import STATUSES, chosen, outcomes
from dbce_spark.export.corpus.corpus_source import CorpusSource
from dbce_spark.files import parquet, storage
from dbce_spark.output.collection import EXTRACTIONS, RUN_FILE

ACCOUNT, SUMMARY = "corpus.json", "corpus.md"
_OURS = {EXTRACTIONS, ACCOUNT, SUMMARY, RUN_FILE}
_ROWS_PER_GROUP = 512
"""As `dbce extract` writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRequest:
    """The parameters of a corpus: the folder of an output or a collection, the target, and the columns to write; none:
    all there are. `version` is that of the collection; None: the latest."""

    output: str
    target: str
    columns: Sequence[str] = ()
    overwrite: bool = False
    version: int | None = None


def write(request: CorpusRequest, config: CorpusConfig) -> str:
    """Write the rows that the filters keep, and an account of all. Return that as a table in Markdown.

    Raises:
        OutputError: there is no finished output, it says nothing of duplicates though they are to be left out, or the
            target holds something.
        InputError: there is no such column, or no such version; or no text is left, and all is written that says why.
    """
    found = corpus_source.open_source(request.output, request.version)
    if config.duplicates != "keep" and not found.has_marks:
        raise OutputError(
            f"{request.output} has no table of duplicates; extract it with --set duplicates.find=true, or give"
            " --duplicates keep"
        )
    schema = _schema(found, request.columns)
    target = request.target.rstrip("/")
    _make_room(target, overwrite=request.overwrite)
    account = CorpusAccount(chosen(config))
    for part in found.parts:
        for file, gone in part.current_files():
            rows = found.batches(file, gone, schema.names)
            _filter(rows, f"{target}/{EXTRACTIONS}/{file.name}", schema, account)
        account.end_part()
    if not account.left:
        parquet.write(f"{target}/{EXTRACTIONS}/site_part=0/part-00000.parquet", schema, [])
    counts = {"output": request.output, "config": asdict(config), **account.as_dict()}
    _write(f"{target}/{ACCOUNT}", json.dumps(counts, indent=2, ensure_ascii=False))
    _write(f"{target}/{SUMMARY}", account.markdown())
    _write(f"{target}/{RUN_FILE}", json.dumps(_run(found.run, account, counts), indent=2))
    if not account.left:
        raise InputError(f"no text is left for the corpus; {target}/{SUMMARY} has what each filter took")
    return account.markdown()


def _schema(found: CorpusSource, columns: Sequence[str]) -> pa.Schema:
    unknown = [name for name in columns if name not in found.schema.names]
    if unknown:
        raise InputError(f"--columns: {unknown[0]} is no column; there are {', '.join(found.schema.names)}")
    return pa.schema([found.schema.field(name) for name in columns]) if columns else found.schema


def _make_room(target: str, *, overwrite: bool) -> None:
    """Remove an earlier corpus, first of all the files that mark it as finished."""
    holds = storage.list_names(target)
    if holds and not overwrite:
        raise OutputError(f"{target} exists; give another --output, or --overwrite to replace it")
    if foreign := sorted(holds - _OURS):
        raise OutputError(f"{target} holds {foreign[0]}, which no corpus has; --overwrite only replaces a corpus")
    if holds and ACCOUNT not in holds and RUN_FILE in holds:
        raise OutputError(f"{target} is what `dbce extract` wrote; give another --output")
    for name in (RUN_FILE, ACCOUNT, SUMMARY, EXTRACTIONS):
        storage.remove(f"{target}/{name}")


def _filter(batches: Iterable[pa.RecordBatch], path: str, schema: pa.Schema, account: CorpusAccount) -> None:
    """Write the kept rows to a file; none where no row is kept."""
    with ExitStack() as opened:
        kept = None
        for batch in batches:
            outcome = outcomes(batch, account.filters)
            account.add(batch, outcome)
            rows = batch.take(pa.array(np.flatnonzero(outcome == len(account.filters))))
            if not len(rows):
                continue
            if kept is None:
                writer = parquet.writer(path, schema, dictionary=True, rows_per_group=_ROWS_PER_GROUP)
                kept = opened.enter_context(writer)
            kept.write(pa.RecordBatch.from_arrays([rows.column(name) for name in schema.names], schema=schema))


def _run(run: dict[str, Any], account: CorpusAccount, counts: dict[str, Any]) -> dict[str, Any]:
    """Build run.json of the corpus: that of the output, with the removed rows counted as skipped. So a corpus can be
    read wherever an output is, and every record is still accounted for."""
    removed = {f"corpus:{name}": count for name, count in counts["removed"].items() if count}
    formats = {"formats": counts["formats"]} if counts["formats"] else {}
    own = {name: value for name, value in run.items() if name != "formats"}
    statuses = {status: account.statuses[status] for status in STATUSES}
    return own | {
        "extractions": account.left,
        **statuses,
        **formats,
        "skipped": dict(sorted((run.get("skipped", {}) | removed).items())),
        "corpus": {name: counts[name] for name in ("output", "config", "in", "removed", "left")},
    }


def _write(path: str, text: str) -> None:
    storage.write(path, text.encode() + b"\n")
