"""Two archives, and an index of both with all that can be wrong in one."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.support.builders import archive, gzipped, http, record


def write(folder: Path, years: Sequence[int] = (2020, 2021, 2022)) -> Path:
    """Write two archives of ten pages of these three years, a CDXJ of both with what can be wrong in one, and a file
    that is no index. Return the folder."""
    lines = ["this is no line", _line("gone", 0, 99, "gone.warc.gz"), _line("out", 0, 99, "../out.warc.gz")]
    for name in ("a", "b"):
        members = gzipped(
            *(
                record(
                    http(f"<p>Page {at} of {name}</p>"),
                    url=f"http://www.example.org/{name}{at}",
                    date=f"{years[at % 5 % 3]}-01-02T00:00:00Z",
                )
                for at in range(10)
            )
        )
        archive(folder / f"{name}.warc.gz", *members)
        offset = 0
        for at, member in enumerate(members):
            lines.append(_line(f"{name}{at}", offset, len(member), f"{name}.warc.gz", years[at % 5 % 3]))
            offset += len(member)
    (folder / "index.cdxj").write_text("\n".join([*lines[::-1], lines[-1]]) + "\n")
    (folder / "other.cdxj").write_text("neither key nor date\n")
    return folder


def indexes(folder: Path) -> list[str]:
    """Name the index, one that is not there, and one that is none."""
    return [str(folder / name) for name in ("index.cdxj", "missing.cdxj", "other.cdxj")]


def _line(page: str, offset: int, length: int, filename: str, year: int = 2020) -> str:
    fields = {"url": f"http://www.example.org/{page}", "mime": "text/html", "status": "200", "filename": filename}
    written = json.dumps(fields | {"offset": str(offset), "length": str(length)})
    return f"org,example)/{page} {year}0102000000 {written}"
