"""Write a corpus: one pass over the extractions of an output, some rows at a time, without Spark."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.config import STATUSES, CorpusConfig
from dbce_spark.errors import InputError, OutputError
from dbce_spark.export import row_filters
from dbce_spark.export.corpus import corpus_source
from dbce_spark.export.corpus.corpus_account import CorpusAccount
from dbce_spark.export.corpus.corpus_filters import chosen
from dbce_spark.export.corpus.corpus_source import CorpusSource
from dbce_spark.export.relative_paths import COLUMN, relative_paths
from dbce_spark.export.row_filters import Filter, outcomes
from dbce_spark.files import parquet, sources, storage
from dbce_spark.output.collection import EXTRACTIONS, RUN_FILE, check_outside

ACCOUNT, SUMMARY = "corpus.json", "corpus.md"
_OURS = {EXTRACTIONS, ACCOUNT, SUMMARY, RUN_FILE}
_PART = "site_part="
_ROWS_PER_GROUP = 512
"""As `dbce extract` writes them."""
_ROWS_OF_PATHS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRequest:
    """The parameters of a corpus: the folder of an output or a collection, the target, and the columns to write; none:
    all there are. `version` is that of the collection; None: the latest. Paths of archives are written from the folder
    `relative_to` on; "": whole."""

    output: str
    target: str
    columns: Sequence[str] = ()
    overwrite: bool = False
    version: int | None = None
    relative_to: str = ""


def write(request: CorpusRequest, config: CorpusConfig) -> str:
    """Write the rows that the filters keep, and an account of all. Return that as a table in Markdown.

    Raises:
        OutputError: there is no finished output, it lacks what filters read, or the target holds something.
        InputError: there is no such column, no such version, or no such site can be there, or an archive lies elsewhere
            than in `relative_to`; or no text is left, and nothing is written.
    """
    filters = chosen(config)
    found = corpus_source.open_source(request.output, request.version)
    _check(request, found, filters, config)
    schema = _schema(found, request.columns)
    target = request.target.rstrip("/")
    if _is_same(target, request.output.rstrip("/")):
        raise OutputError(f"{target} is what the corpus is made of; give another --output")
    _check_room(target, overwrite=request.overwrite)
    account = CorpusAccount(filters)
    read = [*dict.fromkeys([*schema.names, *(one.column for one in filters)])]
    with _whole_or_gone(target, account):
        for part in found.parts:
            for file, gone in part.current_files():
                rows = (relative_paths(batch, request.relative_to) for batch in found.batches(file, gone, read))
                _filter(rows, target, file.name, schema, account)
            account.end_part()
        counts = {"output": request.output, "config": asdict(config), **account.as_dict()}
        if not account.left:
            raise row_filters.nothing_left(request.output, counts["removed"], account.values)
        _write(f"{target}/{ACCOUNT}", json.dumps(counts, indent=2, ensure_ascii=False))
        _write(f"{target}/{SUMMARY}", account.markdown())
        _write(f"{target}/{RUN_FILE}", json.dumps(_run(found.run, account, counts), indent=2))
    return account.markdown()


def _is_same(one: str, other: str) -> bool:
    """Tell whether two names are of one folder, a link too."""
    places = [sources.absolute(name) for name in (one, other)]
    return len({place if sources.is_remote(place) else os.path.realpath(place) for place in places}) == 1


@contextmanager
def _whole_or_gone(target: str, account: CorpusAccount) -> Iterator[None]:
    """Remove what the block has written if it fails. An earlier corpus, which stays up to the first row, is then as it
    was.

    Raises:
        OutputError: the target cannot be written.
    """
    try:
        yield
    except BaseException as error:
        if account.left:
            with suppress(OSError):
                _clear(target)
        if isinstance(error, OSError):
            raise OutputError(f"{target}: cannot be written: {error}; {storage.remedy(error)}") from error
        raise


def _check(request: CorpusRequest, found: CorpusSource, filters: Sequence[Filter], config: CorpusConfig) -> None:
    """Check that an output has what the filters and the account read, and its archives lie where they are to. Raises as
    `write`."""
    root = request.output
    row_filters.check_sites(config.sites, root, found.run)
    names = found.schema.names
    if config.duplicates != "keep" and "corpus" not in found.run and not {*corpus_source.MARKS} <= {*names}:
        raise OutputError(
            f"{root} has no table of duplicates; extract it with --set duplicates.find=true, or give --duplicates keep"
        )
    row_filters.check_columns(filters, root, names, corpus_source.COUNTED)
    if request.relative_to and COLUMN in names:
        for part in found.parts:
            for batch in part.batches([COLUMN], rows=_ROWS_OF_PATHS):
                relative_paths(batch, request.relative_to)


def _schema(found: CorpusSource, columns: Sequence[str]) -> pa.Schema:
    unknown = [name for name in columns if name not in found.schema.names]
    if unknown:
        raise InputError(f"--columns: {unknown[0]} is no column; there are {', '.join(found.schema.names)}")
    return pa.schema([found.schema.field(name) for name in columns]) if columns else found.schema


def _check_room(target: str, *, overwrite: bool) -> None:
    """Check that the target is free, or an earlier corpus that may be overwritten. Raises as `write`."""
    check_outside(target)
    holds = storage.list_names(target)
    if holds and not overwrite:
        raise OutputError(f"{target} exists; give another --output, or --overwrite to replace it")
    if foreign := sorted(holds - _OURS):
        raise OutputError(f"{target} holds {foreign[0]}, which no corpus has; --overwrite only replaces a corpus")
    if holds and ACCOUNT not in holds and RUN_FILE in holds:
        raise OutputError(f"{target} is what `dbce extract` wrote; give another --output")
    # The account is written last: without one the folder is that of a corpus that was not finished, or somebody's own.
    parts = storage.list_names(f"{target}/{EXTRACTIONS}") if ACCOUNT not in holds else set()
    if foreign := sorted(name for name in parts if not name.startswith(_PART)):
        raise OutputError(
            f"{target}/{EXTRACTIONS} holds {foreign[0]}, which no corpus has; --overwrite only replaces a corpus"
        )


def _clear(target: str) -> None:
    """Remove an earlier corpus, first of all the files that mark it as finished."""
    for name in (RUN_FILE, ACCOUNT, SUMMARY, EXTRACTIONS):
        storage.remove(f"{target}/{name}")


def _filter(
    batches: Iterable[pa.RecordBatch], target: str, name: str, schema: pa.Schema, account: CorpusAccount
) -> None:
    """Write the kept rows to a file of the target; none where no row is kept. An earlier corpus makes room for the
    first row, so that it stays where filters leave none."""
    with ExitStack() as opened:
        kept = None
        for batch in batches:
            outcome = outcomes(batch, account.filters)
            account.add(batch, outcome)
            rows = batch.take(pa.array(np.flatnonzero(outcome == len(account.filters))))
            if not len(rows):
                continue
            if account.left == len(rows):
                _clear(target)
            if kept is None:
                path = f"{target}/{EXTRACTIONS}/{name}"
                writer = parquet.writer(path, schema, dictionary=True, rows_per_group=_ROWS_PER_GROUP)
                kept = opened.enter_context(writer)
            kept.write(pa.RecordBatch.from_arrays([rows.column(one) for one in schema.names], schema=schema))


def _run(run: dict[str, Any], account: CorpusAccount, counts: dict[str, Any]) -> dict[str, Any]:
    """Build run.json of the corpus: that of the output, with the removed rows counted as skipped. So a corpus can be
    read wherever an output is, and every record is still accounted for."""
    removed = Counter({f"corpus:{name}": count for name, count in counts["removed"].items() if count})
    formats = {"formats": counts["formats"]} if counts["formats"] else {}
    # No row of a corpus stands for an earlier one: readers would look for those that were labelled again, too.
    own = {name: value for name, value in run.items() if name not in ("formats", "relabelled")}
    statuses = {status: account.statuses[status] for status in STATUSES}
    return own | {
        "extractions": account.left,
        **statuses,
        **formats,
        "skipped": dict(sorted((Counter(run.get("skipped", {})) + removed).items())),
        "corpus": {name: counts[name] for name in ("output", "config", "in", "removed", "left")},
    }


def _write(path: str, text: str) -> None:
    storage.write(path, text.encode() + b"\n")
