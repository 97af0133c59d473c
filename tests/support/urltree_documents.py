"""One line makes a document of a stream, a domain, and what the tree of one must hold."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from dbce_spark.streaming.urltree.blocks import block_keys
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.url_tree import UrlTree
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig, load
from tests.support.builders import parsed

CONFIG = load(settings=["label.heuristic=strict", "relabel.support=0"])
DAY = 86_400_000_000


def config(*settings: str) -> UrlTreeConfig:
    """The paper's parameters with some of them set."""
    return load(settings=["label.heuristic=strict", "relabel.support=0", *settings])


def document(url: str, *texts: str, day: float = 0, settings: UrlTreeConfig = CONFIG) -> Document:
    """A page with these texts as blocks, so many days after the stream began."""
    html = "".join(f"<p>{text}</p>" for text in texts)
    key = url_key(url, "", settings.keys.rules)
    blocks = parsed(f"<html><body>{html}</body></html>").blocks
    return Document(
        document_id=url, url_key=key, timestamp=int(day * DAY), keys=block_keys(blocks, settings.blocks.hash)
    )


def domain(documents: Iterable[Document], settings: UrlTreeConfig = CONFIG) -> DomainTree:
    """The domain news.eu with these documents."""
    made = DomainTree("news.eu", settings)
    for one in documents:
        made.add(one)
    return made


Plain = Mapping[str, tuple[int, Mapping[int, int]]]
"""Of each node by its path: n_s, and the count of each of its blocks."""


def plain(tree: UrlTree) -> Plain:
    """List the counts of a tree."""
    found: dict[str, tuple[int, dict[int, int]]] = {node.path: (node.documents, {}) for node in tree.nodes()}
    for held in tree.documents.values():
        for node in held.leaf.up():
            counts = tree.counts(node, held.ids)
            found[node.path][1].update(zip(held.ids.tolist(), counts.tolist(), strict=True))
    return found


def counted(name: str, documents: Iterable[tuple[tuple[str, ...], Iterable[int]]]) -> Plain:
    """Count what a tree of documents (branch, blocks) must hold, as the paper says it."""
    seen: Counter[str] = Counter({name: 0})
    blocks: dict[str, Counter[int]] = defaultdict(Counter)
    for branch, ids in documents:
        for length in range(len(branch) + 1):
            path = "/".join((name, *branch[:length]))
            seen[path] += 1
            blocks[path].update(set(ids))
    return {path: (count, dict(blocks[path])) for path, count in seen.items()}
