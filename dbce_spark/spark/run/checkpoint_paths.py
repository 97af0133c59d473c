"""Correct the paths in a stream's checkpoint after it was moved.

Spark notes the files with the schemas of its state by whole paths, and would look for them where they were.
"""

import json
import re
from pathlib import Path

from dbce_spark.files import sources, storage

_SCHEMA = re.compile(r'"file:(?:[^"\\]|\\.)*(/state/\d+/_stateSchema/[^"\\]+)"')


def correct(checkpoint: str) -> None:
    """Correct the paths in a checkpoint to where it lies now; one in a store stays, as no store can move it.

    Raises:
        OSError: it cannot be written.
    """
    if sources.is_remote(checkpoint):
        return
    for path in Path(checkpoint).glob("state/*/_metadata/v2/[0-9]*"):
        before = path.read_text(encoding="utf-8")
        now = _SCHEMA.sub(lambda found: json.dumps(f"file:{checkpoint}{found[1]}", ensure_ascii=False), before)
        if now != before:
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Java's checksum of it as it was
            storage.write(str(path), now.encode())
