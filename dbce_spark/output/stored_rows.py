"""Read rows of the Parquet files of an output or of a collection, and name a file that is damaged."""

import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbce_spark.errors import OutputError, denied
from dbce_spark.files import parquet, sources

CAPTURE_ID = "capture_id"
_ROWS_OF_IDS = 1 << 16
_INCREMENT = re.compile(r"/increments/\d+(?:/|$)")


def batches(
    files: Iterable[str], columns: Sequence[str] | None, *, rows: int, where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """Read some columns, or all, of some Parquet files of a table, file after file, at most `rows` rows at once.

    A column may be one field of a list of structs: "segments.label". Of a file no more is held than the pages of one
    row group of the columns that are asked for. With an expression (`where`), row groups whose statistics rule it
    out are passed over; then columns are whole ones.

    Raises:
        OutputError: a file cannot be read, or lacks a column.
    """
    for path in files:
        if where is not None:
            with _damage(path):
                import pyarrow.dataset as ds  # only here: it takes pandas with it, 0.2 s of each command

                verified = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
                system, name = sources.file_system(path) if sources.is_remote(path) else (None, path)
                form = ds.ParquetFileFormat(default_fragment_scan_options=verified)
                file = ds.dataset(name, format=form, filesystem=system)
                yield from file.to_batches(columns=columns, filter=where, batch_size=rows, batch_readahead=1)
            continue
        with opened(path) as file:
            read = None if columns is None else leaves(path, file, columns)
            yield from file.iter_batches(rows, columns=read, use_threads=False)


def capture_ids(files: Iterable[str]) -> Iterator[pa.Array]:
    """Read the ids of captures in some files. Raises as `batches`."""
    for batch in batches(files, [CAPTURE_ID], rows=_ROWS_OF_IDS):
        yield batch.column(CAPTURE_ID)


@contextmanager
def opened(path: str) -> Iterator[pq.ParquetFile]:
    """Open a file of an output or an increment.

    Raises:
        OutputError: it is broken, as may be found only while it is read.
    """
    with _damage(path), parquet.reader(path) as file:
        yield file


def count_rows(path: str) -> int:
    """Count the rows of a file of an output or an increment.

    Raises:
        OutputError: it is broken.
    """
    with opened(path) as file:
        rows: int = file.metadata.num_rows
        return rows


@contextmanager
def _damage(path: str) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except PermissionError as error:
        raise denied(path, error) from error
    except Exception as error:  # each store has exceptions of its own, and Arrow has some
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            advice = f"{path}: {error.strerror}; allow more (`ulimit -n`), and give the same command again"
        elif isinstance(error, FileNotFoundError) and is_of_increment(path):
            advice = f"{path} is gone; restore it, or, if a vacuum has removed its version, read a later one"
        elif is_of_increment(path):
            advice = f"{path} is broken: {error}; restore it, or roll back to a version before it"
        else:
            advice = f"{path}: cannot be read: {type(error).__name__}: {error}; the output is damaged, make it again"
        raise OutputError(advice) from error


def is_of_increment(path: str) -> bool:
    """Tell whether a file or folder lies in an increment of a collection."""
    return _INCREMENT.search(path) is not None


def leaves(path: str, file: pq.ParquetFile, columns: Sequence[str]) -> list[str]:
    """List the Parquet columns behind the names: "segments.label" is stored as "segments.list.element.label".

    Raises:
        OutputError: a name has none.
    """
    found, names = [], set()
    for at in range(len(file.schema)):
        steps = file.schema.column(at).path.split(".")
        read = {steps[0], f"{steps[0]}.{steps[-1]}"} & set(columns)
        if read:
            found.append(".".join(steps))
            names |= read
    if missing := sorted(set(columns) - names):
        raise lacking(path, missing)
    return found


def lacking(path: str, columns: Sequence[str], or_else: str = "") -> OutputError:
    """Build the error where an output, or a file of it, lacks columns that are read; `or_else` is one more way out."""
    return OutputError(
        f"{path}: has no column {', '.join(columns)}; a corpus has them where its --columns names them or is left out;"
        f" if this is none, another version of dbce-spark wrote it: make the output again{or_else}"
    )


def chosen_columns(batch: pa.RecordBatch, read: Sequence[str], columns: Sequence[str]) -> pa.RecordBatch:
    """Drop the columns of a batch that were read only to choose its rows."""
    beside = [name for name in read if name not in columns]
    return batch.drop_columns(beside) if beside else batch
