"""Run the README's commands on an archive many times, and count how each of them ended.

`python -m benchmarks.programs.endings ARCHIVE [TIMES]`: Arrow's threads can abort an interpreter that ends while they
live (apache/arrow, issue 34314), once in some ten runs or never. Prints a row a command; ends with 1 if one ended with
anything but 0.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow.dataset

from benchmarks.programs.program_parser import program_parser

TIMES = 200
_NEW = "{new}"
"""Stands for a folder that is not there yet."""
_PANDAS = "import sys, pandas; print(len(pandas.read_parquet(sys.argv[1] + '/extractions')))"
_ARROW = "import sys, pyarrow.dataset as ds; print(ds.dataset(sys.argv[1] + '/extractions').to_table().num_rows)"
_PAGES = "import sys, dbce_spark; print(len(dbce_spark.extract_archive(sys.argv[1])))"


def main(archive: str, times: int) -> bool:
    """Run all commands so many times, in turns; return whether each ended with 0."""
    with tempfile.TemporaryDirectory() as folder:
        output, collection = f"{folder}/extracted", f"{folder}/collection"
        for place in (("--output", output), ("--collection", collection)):
            subprocess.run(_dbce("extract", archive, *place), check=True, capture_output=True)
        first = pyarrow.dataset.dataset(f"{output}/extractions").head(1, columns=["url"]).to_pylist()
        endings = count(commands(archive, output, collection, first[0]["url"]), times, folder)
    for name, statuses in endings.items():
        others = ", ".join(f"{status}: {runs}" for status, runs in sorted(statuses.items()) if status != 0)
        print(f"| `{name}` | {times} | {statuses[0]} | {others} |")
    return all(statuses[0] == times for statuses in endings.values())


def commands(archive: str, output: str, collection: str, url: str) -> dict[str, list[str]]:
    """List the commands by name: of an archive, an output and a collection of it, and a URL in both."""
    python = [sys.executable, "-c"]
    return {
        "dbce text": _dbce("text", archive),
        "dbce extract": _dbce("extract", archive, "--output", _NEW),
        "dbce status": _dbce("status", output),
        "dbce show": _dbce("show", url, "--in", output),
        "dbce history": _dbce("history", url, "--in", collection),
        "dbce report": _dbce("report", output, "--output", _NEW),
        "dbce export": _dbce("export", output, "--format", "jsonl", "--output", _NEW),
        "dbce_spark.extract_archive": [*python, _PAGES, archive],
        "pandas.read_parquet": [*python, _PANDAS, output],
        "pyarrow.dataset": [*python, _ARROW, output],
    }


def count(of_commands: Mapping[str, Sequence[str]], times: int, folder: str) -> dict[str, Counter[int]]:
    """Count the exit statuses of each command; those below 0 are signals. What is written goes into the folder."""
    endings: dict[str, Counter[int]] = {name: Counter() for name in of_commands}
    for _ in range(times):
        for name, command in of_commands.items():
            with tempfile.TemporaryDirectory(dir=folder) as above:
                words = [word.replace(_NEW, f"{above}/new") for word in command]
                endings[name][subprocess.run(words, capture_output=True, check=False).returncode] += 1
    return endings


def _dbce(*words: str) -> list[str]:
    return [sys.executable, "-m", "dbce_spark", *words]


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("archive", metavar="ARCHIVE")
    parser.add_argument("times", type=int, nargs="?", default=TIMES, metavar="TIMES")
    given = parser.parse_args()
    sys.exit(0 if main(given.archive, given.times) else 1)
