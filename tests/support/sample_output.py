"""A finished output of the sample archive and some hard pages, as `dbce extract` writes it, made without Spark."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.samples import write_archive
from dbce_spark import __version__, config
from dbce_spark.dbce import local
from dbce_spark.files import parquet, sources
from dbce_spark.output.schemas import capture_rows, reject_rows
from dbce_spark.spark.run.extraction_files import SCHEMA
from tests.support import plain_tables
from tests.support.builders import archive, http, record

SMILES = "http://smiles.example/"
HARD = [
    record(
        http("<title>😀</title><h1>Smiles 😀🏳️‍🌈</h1>" + f"<p>{'Ein 𝔘nfug 🤷 und noch ein Wort mehr. ' * 9}</p>"),
        url=SMILES,
    ),
    record(http("<script>1</script>"), url="http://smiles.example/empty"),
]
"""Text beyond the Basic Multilingual Plane, and a page without any."""


def make(folder: Path, *, pages: int = 20, seed: int = 3, files: int = 2) -> Path:
    """The output of a run over the sample archive, some hard pages and a file that is no archive; each site part is in
    so many files."""
    write_archive(folder / "archive", pages=pages, seed=seed)
    archive(folder / "archive" / "hard.warc.gz", *HARD)
    (folder / "archive" / "none.warc.gz").write_bytes(b"no archive")
    parameters = config.default()
    found = sources.expand([str(folder / "archive")], parameters.input.patterns)
    return write(folder / "extracted", local.extract(found, parameters), files)


def write(folder: Path, result: local.Result, files: int) -> Path:
    """The tables of a result, and run.json."""
    parameters = config.default()
    rows = plain_tables.extractions(result, parameters)
    for at in range(files):
        for part, some in plain_tables.by_part(rows.take(pa.array(range(at, len(rows), files)))):
            parquet.write(f"{folder}/extractions/site_part={part}/part-{at:05}.parquet", SCHEMA, [some])
    order = [(name, "ascending") for name in ("url_key", "timestamp", "capture_id")]
    captures = plain_tables.captures(result).sort_by(order).to_batches()
    parquet.write(f"{folder}/captures/part-00000.parquet", capture_rows.CAPTURES, captures)
    rejects = [reject_rows.rejects_batch(result.rejects)]
    parquet.write(f"{folder}/rejects/part-00000.parquet", reject_rows.REJECTS, rejects)
    (folder / "run.json").write_text(json.dumps(_run(result)))
    return folder


def _run(result: local.Result) -> dict[str, Any]:
    return {
        "records_read": result.records_read,
        "captures": len(result.extractions) + len(result.revisits),
        "extractions": len(result.extractions),
        "rejects": Counter(str(one.reason) for one in result.rejects),
        "plan": "the plan",
        "config": config.default().as_dict(),
        "versions": {"dbce_spark": __version__},
    }


def rows(folder: Path, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a table as pyarrow reads them by itself."""
    import pyarrow.dataset as ds

    found: list[dict[str, Any]] = ds.dataset(folder / table, partitioning="hive").to_table(list(columns)).to_pylist()
    return found
