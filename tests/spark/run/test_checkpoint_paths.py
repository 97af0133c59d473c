"""Paths in the checkpoint of a stream that was moved."""

import json
from pathlib import Path

import pytest

from dbce_spark.spark.run import checkpoint_paths


@pytest.mark.parametrize("name", ["plain", 'a "quote"', "ü %20:x", "back\\slash", "state"])
def test_schemas_are_looked_for_where_the_checkpoint_lies(tmp_path: Path, name: str) -> None:
    """Whatever the folders are called, before and after; the checksum of the file as it was goes, and a second call
    leaves all as it is."""
    schema = "/state/0/_stateSchema/default/0_4be4092b-064f"
    lines = [{"stateStoreInfo": [{"stateSchemaFilePaths": [f"file:/was/{name}{schema}"]}]}]
    noted = tmp_path / name / "state" / "0" / "_metadata" / "v2" / "0"
    noted.parent.mkdir(parents=True)
    noted.write_text("\n".join(["v2", *map(json.dumps, lines)]), encoding="utf-8")
    noted.with_name(".0.crc").write_bytes(b"crc")
    checkpoint_paths.correct(str(tmp_path / name))
    head, content = noted.read_text(encoding="utf-8").split("\n")
    changed_at = noted.stat().st_mtime_ns
    checkpoint_paths.correct(str(tmp_path / name))

    assert "v2" == head
    assert {"stateStoreInfo": [{"stateSchemaFilePaths": [f"file:{tmp_path / name}{schema}"]}]} == json.loads(content)
    assert ["0"] == [one.name for one in noted.parent.iterdir()]
    assert changed_at == noted.stat().st_mtime_ns
