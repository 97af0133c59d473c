"""The texts that the extractors of Bevendorff et al. (2023) made of eight published sets, for `dbce evaluate`.

Their repository, chatnoir-eu/web-content-extraction-benchmark, has them in outputs/model-outputs.tar.xz: a file of JSON
lines for each set and extractor, model-outputs/SET/EXTRACTOR.jsonl, with `page_id`, `plaintext` and `model`. The id is
the SHA-256 of the page as its set has it on disk.
"""

import lzma
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any

import pyarrow as pa

from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets, extracted_texts, formats
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.formats import entry
from dbce_spark.files import jsonl, parquet

SUFFIX = "-2023"
"""Behind the name of each extractor, so that one table can have its texts of then beside those of today."""

_ENDING = ".jsonl"


@dataclass(frozen=True, slots=True)
class PublishedTexts:
    """The texts that an archive has of the pages of some sets.

    `extractors` and `pages`, by set and id, are those of which texts have been found so far.
    """

    archive: str
    sets: datasets.Sets
    extractors: set[str] = field(default_factory=set)
    pages: set[tuple[str, str]] = field(default_factory=set)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows of `texts.parquet`, one for each extractor and page.

        Raises:
            InputError: the archive cannot be read, or has no text of these pages.
        """
        places = self._places()
        seen: set[tuple[str, str, str]] = set()  # a page may be in two of the published sets
        for name, texts in _outputs(self.archive, places):
            pages: dict[str, list[GoldPage]] = defaultdict(list)
            found: dict[str, dict[str, Extracted]] = defaultdict(dict)
            for key, text in texts.items():
                for page in places[key]:
                    if (name, page.dataset, page.page_id) not in seen:
                        seen.add((name, page.dataset, page.page_id))
                        pages[page.dataset].append(page)
                        found[page.dataset][page.page_id] = Extracted(text, 0.0, "")
            for dataset, of_set in pages.items():
                yield from extracted_texts.table(of_set, name, found[dataset], stamp="")
        self.extractors.update(name for name, _, _ in seen)
        self.pages.update((dataset, page_id) for _, dataset, page_id in seen)
        if not seen:
            raise InputError(f"{self.archive}: has no text of a page of {', '.join(self.sets)}")

    def _places(self) -> dict[str, list[GoldPage]]:
        """Return the pages by the ids that they may have there: their own, where they come from the folder of a set,
        and the hash of their HTML in UTF-8."""
        places = defaultdict(list)
        for pages in self.sets.values():
            for page in pages:
                for key in {page.page_id, entry.page_id(page.body)}:
                    places[key].append(page)
        return dict(places)


def write(archive: str, sets: Sequence[str], output: str, pages: str | None = None) -> PublishedTexts:
    """Write the texts that an archive has of the pages of some sets, and to `pages` the pages that it has texts of;
    return what was found.

    Raises:
        InputError: a set or the archive cannot be read, or no page is in both.
    """
    published = PublishedTexts(archive, datasets.read(sets).sets)
    parquet.write(output, extracted_texts.SCHEMA, published.batches())
    if pages:
        jsonl.write(pages, _pages(sets, published))
    return published


def _pages(sets: Sequence[str], published: PublishedTexts) -> Iterator[Mapping[str, Any]]:
    for path in sets:
        for one in formats.entries(path):
            name = datasets.set_name(one, path)
            if (name, one.fields.get("id")) in published.pages:
                yield {**one.fields, "dataset": name}


def _outputs(path: str, wanted: Container[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Iterate over the files of an archive, each as its extractor's name and the texts of wanted pages by their ids."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                stream = archive.extractfile(member)
                # A Mac puts a file of its own, ._NAME, beside each.
                if stream and name.suffix == _ENDING and not name.name.startswith("."):
                    yield name.stem + SUFFIX, dict(_texts(stream, f"{path}: {name}", wanted))
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read as model-outputs.tar.xz (a pointer of Git LFS?): {error}") from error


def _texts(lines: IO[bytes], place: str, wanted: Container[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        fields = jsonl.from_line(line, f"{place}:{number}")
        page_id, text = (jsonl.field(fields, name, "a text", f"{place}:{number}") for name in ("page_id", "plaintext"))
        if page_id in wanted:
            yield page_id, text
