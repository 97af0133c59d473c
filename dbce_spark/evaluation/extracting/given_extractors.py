"""Extractors that a call brings along as NAME=COMMAND, NAME=TEXTS.parquet or MODULE:FUNCTION: programs in any language,
texts that somebody has published, and functions in Python."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.errors import ConfigError, InputError
from dbce_spark.evaluation import extracted_texts
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted, Load
from dbce_spark.evaluation.extracting.joint_extractors import Joint, Setting
from dbce_spark.files import parquet

_TEXTS = ".parquet"
_COLUMNS = ("dataset", "page_id", "extractor", "text", "seconds", "error")
_ROW = pa.schema([extracted_texts.SCHEMA.field(name) for name in _COLUMNS])


def name_of(given: str) -> str:
    """Return the name of an extractor, without the command or file that may follow it."""
    return given.partition("=")[0]


def described(given: str) -> str:
    """Return an extractor as it was given, a file of texts by its name alone, so that it holds on any machine."""
    name, _, source = given.partition("=")
    return f"{name}={PurePosixPath(source).name}" if is_texts(source) else given


def is_texts(source: str) -> bool:
    """Return whether a source is a file of texts, not a command."""
    return source.endswith(_TEXTS)


def program(command: str) -> Load:
    """Return the loader of a program that reads a page's HTML in UTF-8 from standard input and writes its text.

    Raises:
        ConfigError: the command cannot be split into words.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--extractors: {command}: {error}") from error
    if not words:
        raise ConfigError("--extractors: write NAME=COMMAND, where the command reads HTML and writes text")
    return partial(_Program, words)


class _Program:
    """A program that is started for each page."""

    def __init__(self, words: Sequence[str]):
        self._words = words

    def __call__(self, html: str, lang: str) -> str:
        """Extract the text.

        Raises:
            RuntimeError: it ended with another status than 0.
        """
        done = subprocess.run(self._words, input=html.encode("utf-8", "replace"), capture_output=True, check=False)
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise RuntimeError(f"{self._words[0]} ended with {done.returncode}: {last}")
        return done.stdout.decode("utf-8", "replace")

    def clock(self) -> float:
        """Return the seconds of CPU that its processes have taken."""
        used = os.times()
        return used.children_user + used.children_system


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The texts of an extractor in a file, by data set and page id."""

    path: str
    texts: Mapping[tuple[str, str], Extracted]

    def __call__(self, gold: Sequence[GoldPage]) -> dict[str, Extracted]:
        """Return the texts of some pages; a page that the file lacks is a miss."""
        lacking = Extracted("", 0.0, f"missing: not in {self.path}")
        return {page.page_id: self.texts.get((page.dataset, page.page_id), lacking) for page in gold}


def stored(name: str, path: str) -> StoredTexts:
    """Read the texts that a file of `dbce evaluate` has of an extractor: all at once, as the output may take its place.

    Raises:
        InputError: it is no such file, or has no text of that extractor.
    """
    texts: dict[tuple[str, str], Extracted] = {}
    try:
        with parquet.reader(path) as file:
            for batch in file.iter_batches(columns=[*_COLUMNS]):
                rows = batch.select(_COLUMNS).cast(_ROW).filter(pc.field("extractor") == name).to_pylist()
                texts |= {
                    (row["dataset"], row["page_id"]): Extracted(
                        row["text"] or "", row["seconds"] or 0.0, row["error"] or ""
                    )
                    for row in rows
                }
    except parquet.UNREADABLE as error:
        raise InputError(f"{path} is no texts.parquet that `dbce evaluate` wrote: {error}") from error
    if not texts:
        raise InputError(f"{path} has no text by {name}")
    return StoredTexts(path, texts)


@dataclass(frozen=True, slots=True)
class Function:
    """A function that sees all pages of a set together, and the settings that it is called with."""

    name: str
    joint: Joint
    setting: Setting

    def __call__(self, gold: Sequence[GoldPage]) -> dict[str, Extracted]:
        """Return the text of each page.

        Raises:
            ConfigError: the function gives none, or something else.
        """
        found = self.joint(gold, setting=self.setting)
        return {page.page_id: self._checked(found, page.page_id) for page in gold}

    def _checked(self, found: object, page_id: str) -> Extracted:
        """Return what was found of a page; with an error its text is empty, as everybody's."""
        one = found.get(page_id) if isinstance(found, Mapping) else found
        match one:
            case Extracted(str(text), float() | int(), str(error)):
                return Extracted("" if error else text, one.seconds, error.encode("utf-8", "replace").decode())
        raise ConfigError(
            f"--extractors {self.name}: of page {page_id} it gave {one!r:.99}; return an Extracted with a text, by id"
        )


def function(name: str, setting: Setting) -> Function:
    """Return the function that is named as MODULE:FUNCTION.

    Raises:
        ConfigError: it cannot be imported, or is no function.
    """
    module, _, attribute = name.partition(":")
    try:
        joint = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"--extractors {name}: {error}") from error
    if not callable(joint):
        raise ConfigError(f"--extractors {name}: {joint!r:.99} is no function")
    return Function(name, joint, setting)
