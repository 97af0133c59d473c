"""Label the pages that arrive in one domain of the stream by its URL Tree, and keep the state for the next."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

from dbce_spark.streaming import state_head
from dbce_spark.streaming.stream.arrival import Arrival, unpack_keys
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, Outcome, keyed, place, repeat
from dbce_spark.streaming.stream.recent_urls import RecentUrls, hashed
from dbce_spark.streaming.urltree import domain_state
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree, Labelled
from dbce_spark.streaming.urltree.url_keys import KEY_FORMS
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

VERSION = 1 + domain_state.VERSION
"""Version of the state, which rises with that of the tree in it. A state of another is refused."""

_FORMS = KEY_FORMS[:-1]
"""The forms of a URL before its key; the tree looks that up."""
_MAGIC = b"DBCESTRM"


class StreamedDomain:
    """The state that the stream keeps of a domain: its tree, and the forms of the URLs of the last pages.

    As many URLs of each form are kept as the tree may hold documents.
    """

    def __init__(self, name: str, config: UrlTreeConfig):
        self._config = config
        self._tree = DomainTree(name, config)
        self._recent = RecentUrls(_FORMS, config.window.max_documents)

    def take(self, arrivals: Iterable[Arrival]) -> Iterator[Outcome]:
        """Take pages in, in the order of the stream. Yield the labels of each, or a repeat if an earlier one has its
        URL key; after it, earlier pages that are labelled once more."""
        for arrival in arrivals:
            yield from self._take(arrival)

    def _take(self, arrival: Arrival) -> Iterator[Outcome]:
        steps = self._recent.note(hashed({form: getattr(arrival.url_key, form) for form in _FORMS}))
        document = Document(
            document_id=arrival.capture_id,
            url_key=arrival.url_key,
            timestamp=arrival.timestamp,
            keys=unpack_keys(arrival.packed_blocks, self._config),
        )
        labelled = self._tree.add(document)
        if not labelled:
            yield repeat(arrival, steps)
            return
        yield Outcome(LABELS, arrival.packed_row, keyed(arrival, steps) | _decision(labelled[0]))
        for late in labelled[1:]:
            yield Outcome(LATE_LABELS, b"", place(arrival) | {"capture_id": late.document_id} | _decision(late))

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`."""
        return b"".join([state_head.pack(_MAGIC, VERSION), self._recent.to_bytes(), self._tree.to_bytes()])

    @classmethod
    def from_bytes(cls, data: bytes, config: UrlTreeConfig) -> Self:
        """Restore the domain as it was when `to_bytes` was called.

        Raises:
            OutputError: the state is of another version, or its keys were made by another hash.
        """
        parts = state_head.unpack(data, _MAGIC, VERSION, "a domain")
        made = cls("", config)
        made._recent, used = RecentUrls.from_bytes(parts, config.window.max_documents)
        made._tree = DomainTree.from_bytes(parts[used:], config)
        return made


def _decision(labelled: Labelled) -> dict[str, Any]:
    """Return the columns of a labelled document."""
    names = ("node", "node_documents", "domain_documents", "c_max")
    own: dict[str, Any] = {name: getattr(labelled, name) for name in names}
    return own | {name: getattr(labelled, name).tolist() for name in ("labels", "counts")}
