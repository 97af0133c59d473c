"""The method by which a stream labels: what of a page its state needs, and how the state of a domain begins."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.model import Page
from dbce_spark.streaming.stream import streamed_domain, streamed_site
from dbce_spark.streaming.stream.arrival import pack_keys
from dbce_spark.streaming.stream.outcomes import DomainState
from dbce_spark.streaming.stream.streamed_domain import StreamedDomain
from dbce_spark.streaming.stream.streamed_page import pack_page
from dbce_spark.streaming.stream.streamed_site import StreamedSite
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

DBCE, URLTREE = "dbce", "urltree"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMethod:
    """A method by which a stream labels. All of it can be sent to other processes."""

    name: str
    state_version: int
    reading_config: DbceConfig
    """The parameters with which pages are read."""
    pack_blocks: Callable[[Page], bytes]
    """Packs what a state needs of a page."""
    begin: Callable[[str], DomainState]
    """Begins the state of a domain, by its name."""
    restore: Callable[[bytes], DomainState]
    """Restores a state from its bytes."""


def stream_method(config: DbceConfig, tree: UrlTreeConfig) -> StreamMethod:
    """Return the method of `stream.by`."""
    if config.stream.by == URLTREE:
        return StreamMethod(
            name=URLTREE,
            state_version=streamed_domain.VERSION,
            reading_config=replace(config, label=replace(config.label, by="T002")),  # no classifier looks at the pages
            pack_blocks=partial(pack_keys, config=tree),
            begin=partial(StreamedDomain, config=tree),
            restore=partial(_restore_domain, config=tree),
        )
    remembered = tree.window.max_documents
    return StreamMethod(
        name=DBCE,
        state_version=streamed_site.VERSION,
        reading_config=config,
        pack_blocks=partial(pack_page, with_titles=config.label.title == "drop"),
        begin=partial(_begin_site, config=config, remembered=remembered),
        restore=partial(_restore_site, config=config, remembered=remembered),
    )


# Functions, since a class method is sent to other processes with all that its module holds.
def _restore_domain(data: bytes, config: UrlTreeConfig) -> StreamedDomain:
    return StreamedDomain.from_bytes(data, config)


def _begin_site(_: str, config: DbceConfig, remembered: int) -> StreamedSite:
    return StreamedSite(config, remembered)


def _restore_site(data: bytes, config: DbceConfig, remembered: int) -> StreamedSite:
    return StreamedSite.from_bytes(data, config, remembered)
