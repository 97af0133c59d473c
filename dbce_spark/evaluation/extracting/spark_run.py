"""The real Spark job as an extractor: gold pages to an archive, `dbce extract` over it, its texts back to the pages."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.errors import JobError
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import gold_archive
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.output import output_reader
from dbce_spark.output.collection import EXTRACTIONS, REJECTS

_ROWS = 1024
_LOST = "lost: neither extracted nor rejected"
"""Cannot be while every record is accounted for, and is seen in the scores if it ever is."""


def extract(gold: Sequence[GoldPage], *, config: DbceConfig, advance: Callable[[int], object]) -> dict[str, Extracted]:
    """Extract pages by the job. A page that it rejects is a miss, with the reason.

    Each gets the same share of the time of all cores, the start of Spark aside.

    Raises:
        JobError: the job did not end well.
    """
    if not gold:
        return {}
    with TemporaryDirectory(prefix="dbce-evaluate-") as name:
        folder = Path(name)
        gold_archive.write(gold, folder / "archive")
        _run(folder, config)
        extracted = output_reader.open_output(str(folder / "extracted"))
        texts = _column(extracted, EXTRACTIONS, "capture_id", ("text",))
        rejects = _column(extracted, REJECTS, "record_id", ("reason", "detail"))
    advance(len(gold))
    seconds = _seconds(extracted.run) / len(gold)
    return {page.page_id: _extracted(page, texts, rejects, seconds) for page in gold}


def _run(folder: Path, config: DbceConfig) -> None:
    """Run the command as a person does, in a process of its own: the method's plain Python is never mixed with it."""
    settings = folder / "dbce.toml"
    settings.write_text(as_toml(config), encoding="utf-8")
    command = [sys.executable, "-m", "dbce_spark.commands.cli", "extract", str(folder / "archive")]
    options = ["--output", str(folder / "extracted"), "--config", str(settings)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise JobError(f"dbce extract ended with status {done.returncode}: {lines[-1] if lines else 'without a word'}")


def as_toml(config: DbceConfig) -> str:
    """Write all parameters, as `--config` takes them: a line a section."""
    return "".join(f"{section} = {_toml(values)}\n" for section, values in config.as_dict().items())


def _toml(value: Any) -> str:
    """Write a plain value as TOML has it within a line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(name)} = {_toml(inner)}' for name, inner in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)  # TOML has no halves of characters


def _column(output: output_reader.Output, table: str, key: str, names: Sequence[str]) -> dict[str, str]:
    """Read the columns `names` of a table, joined by ": ", by its column `key`."""
    found: dict[str, str] = {}
    for batch in output.batches(table, [key, *names], rows=_ROWS):
        columns = batch.to_pydict()
        texts = (": ".join(parts) for parts in zip(*(columns[name] for name in names), strict=True))
        found |= dict(zip(columns[key], texts, strict=True))
    return found


def _seconds(report: Mapping[str, Any]) -> float:
    working = sum(seconds for stage, seconds in report["seconds"].items() if stage != "start")
    return float(working * report["cores"])


def _extracted(page: GoldPage, texts: Mapping[str, str], rejects: Mapping[str, str], seconds: float) -> Extracted:
    # By capture, not by record: of two pages of one URL, time and HTML the job keeps one row.
    capture_id = page.fetch(0).capture.capture_id
    if capture_id in texts:
        return Extracted(texts[capture_id], seconds, "")
    return Extracted("", seconds, rejects.get(gold_archive.record_id(page), _LOST))
