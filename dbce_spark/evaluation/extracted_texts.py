"""Extracted texts, kept beside the scores: no analysis needs a second run, and the next run is short."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.errors import InputError
from dbce_spark.evaluation import node
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted, Load
from dbce_spark.evaluation.extracting.peers import PEERS, Peer
from dbce_spark.files import parquet

Texts = Mapping[str, Mapping[str, Mapping[str, Extracted]]]
"""The texts of extractors: by the extractor's name, the data set's, the page's id."""

NAME = "texts.parquet"

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("dataset", "page_id", "extractor", "version", "page", "text")),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)
"""`version`: of the extractor's package and of our call of it, "" for a method of ours; `page`: SHA-256 of the HTML and
what else an extractor sees. Where these two are the same, the extractor would give the same text again."""

_BATCH = 512


@dataclass(frozen=True, slots=True)
class Kept:
    """Texts of an earlier run into the same folder."""

    rows: pa.Table
    places: Mapping[tuple[str, str, str], int]  # of the texts that may be taken again, by extractor, version, page

    def reusable(self, name: str, pages: Sequence[GoldPage], *, stamp: str, time_limit: float) -> dict[str, Extracted]:
        """Return the texts, by page id, that `name` would give again; misses are always tried again.

        `stamp`: what `stamp_of` the extractor is now; nothing is taken for one without.

        A text comes with the seconds that it took when it was made, on a machine that may have had more to do or less:
        so a table of times is only as even as the runs were. A text that took longer than `time_limit` is none.
        """
        found = {page.page_id: self.places.get((name, stamp, digest(page))) for page in pages} if stamp else {}
        texts = {page_id: self._at(place) for page_id, place in found.items() if place is not None}
        return {page_id: one for page_id, one in texts.items() if one.seconds <= time_limit}

    def rows_of(self, sets: Iterable[str]) -> list[pa.RecordBatch]:
        """Return the rows of these sets, which are still to be taken while other sets are done."""
        chosen = pc.is_in(self.rows["dataset"], pa.array(list(sets), pa.string()))
        batches: list[pa.RecordBatch] = self.rows.filter(chosen).to_batches()
        return batches

    def _at(self, place: int) -> Extracted:
        return Extracted(self.rows["text"][place].as_py(), self.rows["seconds"][place].as_py(), "")


NOTHING = Kept(SCHEMA.empty_table(), {})


def read(output: str) -> Kept:
    """Read the texts of the output folder; none if it is new, or of another version of this program.

    Raises:
        InputError: they cannot be read.
    """
    path = f"{output.rstrip('/')}/{NAME}"
    try:
        with parquet.reader(path) as file:
            if not file.schema_arrow.equals(SCHEMA):
                return NOTHING
            rows = pa.Table.from_batches(file.iter_batches(), SCHEMA).combine_chunks()
    except FileNotFoundError:
        return NOTHING
    except parquet.UNREADABLE as error:
        raise InputError(f"{path}: cannot be read: {error}; remove it, and run `dbce evaluate` again") from error
    keys = zip(*(rows[name].to_pylist() for name in ("extractor", "version", "page")), strict=True)
    errors = rows["error"].to_pylist()
    return Kept(rows, {key: at for at, key in enumerate(keys) if key[1] and not errors[at]})


def table(
    pages: Sequence[GoldPage], extractor: str, extracted: Mapping[str, Extracted], *, stamp: str
) -> Iterator[pa.RecordBatch]:
    """Make the rows of one extractor on one set; `stamp` is its `stamp_of`."""
    for start in range(0, len(pages), _BATCH):
        some = pages[start : start + _BATCH]
        texts = [extracted[page.page_id] for page in some]
        columns = {
            "dataset": [page.dataset for page in some],
            "page_id": [page.page_id for page in some],
            "extractor": [extractor] * len(some),
            "version": [stamp] * len(some),
            "page": [digest(page) for page in some],
            "text": [text.text.encode("utf-8", "replace").decode() for text in texts],
            "seconds": [text.seconds for text in texts],
            "error": [text.error for text in texts],
        }
        yield pa.RecordBatch.from_pydict(columns, SCHEMA)


def write(output: str, batches: Sequence[pa.RecordBatch]) -> None:
    """Write all texts as one Parquet file."""
    parquet.write(f"{output.rstrip('/')}/{NAME}", SCHEMA, batches)


def digest(page: GoldPage) -> str:
    """Hash all that an extractor may see of a page (SHA-256)."""
    seen = "\0".join((page.html, page.lang, page.url))
    return sha256(seen.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def stamp_of(name: str) -> str:
    """Return the version of a peer's package and of our code around it, on which its texts depend; "" for others.

    `name` is as it is requested: published texts may go by a peer's name, and are of another version.
    """
    if name not in PEERS:
        return ""
    peer = PEERS[name]
    return ", ".join([*_versions(peer), _code(peer.load)])


def _versions(peer: Peer) -> list[str]:
    if isinstance(peer.load, partial) and peer.load.func is node.NodePage:
        return node.versions(*peer.load.args)
    packages = packages_distributions().get(peer.package, [])
    return [f"{one} {version(one)}" for one in sorted(set(packages))]


def _code(load: Load) -> str:
    """Return the start of a SHA-256 of the module of a load function; of a package all files are hashed."""
    function: Callable[..., object] = getattr(load, "func", load)
    path = Path(import_module(function.__module__).__file__ or "")
    files = sorted(one for one in path.parent.iterdir() if one.is_file()) if path.name == "__init__.py" else [path]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
