"""Time commands from their start to the text of one page: `python -m benchmarks.programs.first_text PAGE ARCHIVE`.

PAGE is an HTML file, ARCHIVE a web archive. Prints the least seconds by the clock of so many rounds, in which all
commands take turns. Resiliparse has no command that extracts text, so its row is a line of Python, beside those of the
other two.
"""

import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.programs.program_parser import program_parser

ROUNDS = 7
DBCE = "import sys, dbce_spark; print(dbce_spark.extract(sys.stdin.read()).text)"
TRAFILATURA = "import sys, trafilatura; print(trafilatura.extract(sys.stdin.read()))"
RESILIPARSE = (
    "import sys; from resiliparse.extract.html2text import extract_plain_text;"
    " print(extract_plain_text(sys.stdin.read(), main_content=True))"
)


def main(page: Path, archive: str) -> None:
    """Time all commands on a page, and on an archive."""
    beside = Path(sys.executable).parent
    python = [sys.executable, "-c"]
    commands = {
        "`dbce text - < page.html`": [str(beside / "dbce"), "text", "-"],
        "`dbce text crawl.warc.gz`": [str(beside / "dbce"), "text", archive],
        "`trafilatura < page.html`": [str(beside / "trafilatura")],
        "`dbce_spark.extract` in Python": [*python, DBCE],
        "`trafilatura.extract` in Python": [*python, TRAFILATURA],
        "`resiliparse`'s `extract_plain_text` in Python": [*python, RESILIPARSE],
        "Python alone": [*python, "pass"],
    }
    seconds = defaultdict(list)
    for _ in range(ROUNDS):
        for name, command in commands.items():
            with page.open("rb") as given:
                started = time.monotonic()
                subprocess.run(command, stdin=given, stdout=subprocess.DEVNULL, check=True)
                seconds[name].append(time.monotonic() - started)
    for name, of_rounds in seconds.items():
        print(f"| {name} | {min(of_rounds):.2f} |")


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("page", type=Path, metavar="PAGE")
    parser.add_argument("archive", metavar="ARCHIVE")
    given = parser.parse_args()
    main(given.page, given.archive)
