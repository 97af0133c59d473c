"""Fuzz one target under atheris:
`python -m benchmarks.programs.fuzz TARGET CORPUS [-max_total_time=60 ...] [MORE_CORPUS ...]`.

CORPUS is a folder, made if need be: the seeds go there, and what the fuzzer finds new. An input that fails is written
beside it, as CORPUS-failed-DIGEST or, where it takes too long, CORPUS-timeout-DIGEST. Further folders are only read;
arguments with a dash are libFuzzer's own.
"""

import sys
from argparse import REMAINDER
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import atheris

from benchmarks.programs.program_parser import program_parser

with atheris.instrument_imports(include=["dbce_spark"]):
    from benchmarks.programs.fuzz.targets import TARGETS

from benchmarks.programs.fuzz.seeds import SEEDS


def main(target: str, corpus: str, *arguments: str) -> None:
    folder = Path(corpus)
    folder.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS[target]():
        (folder / _digest(seed)).write_bytes(seed)
    options = [sys.argv[0], f"-artifact_prefix={folder}-", corpus, *arguments]
    atheris.Setup(options, _kept(TARGETS[target], folder))
    atheris.Fuzz()


def _kept(target: Callable[[bytes], None], folder: Path) -> Callable[[bytes], None]:
    """Wrap the target so that failing input is written down: libFuzzer itself does so for timeouts alone."""

    def one(data: bytes) -> None:
        try:
            target(data)
        except BaseException:
            folder.with_name(f"{folder.name}-failed-{_digest(data)}").write_bytes(data)
            raise

    return one


def _digest(data: bytes) -> str:
    return sha1(data, usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("corpus", metavar="CORPUS")
    parser.add_argument("others", nargs=REMAINDER, metavar="...")
    given = parser.parse_args()
    main(given.target, given.corpus, *given.others)
