"""Choose the node that decides on a document, and how many documents may share a block of content (section 5.4 of the
paper)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dbce_spark.streaming.urltree.url_tree import Node
from dbce_spark.streaming.urltree.urltree_settings import HeuristicConfig


@dataclass(frozen=True, slots=True)
class Decision:
    """The node whose counts decide, and the count up to which a block is content."""

    node: Node
    c_max: int


def decide(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose by the configured heuristic, for the document of this leaf, which the tree holds already."""
    return _DECISIONS[config.heuristic](leaf, config)


def strict(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose the nearest node from the leaf up that has seen `n_min` documents, or else the domain's."""
    return Decision(_supported(leaf, config.n_min), config.c_max)


def strict_support(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose as `strict` does, among nodes that have seen more than `support` documents."""
    return Decision(_supported(leaf, config.support + 1), config.c_max)


def strict_at_domain(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose the node of the domain always."""
    return Decision(_domain(leaf), config.c_max)


def relaxed_at_domain(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose as `strict` does, but let `relaxed_c_max` documents share a block once the domain has more than
    `relaxed_above`."""
    return Decision(_supported(leaf, config.n_min), _relaxed(leaf, config))


def relaxed_at_domain_node(leaf: Node, config: HeuristicConfig) -> Decision:
    """Choose the node of the domain always, and let `relaxed_c_max` documents share a block once it has more than
    `relaxed_above`."""
    return Decision(_domain(leaf), _relaxed(leaf, config))


_DECISIONS: Mapping[str, Callable[[Node, HeuristicConfig], Decision]] = {
    "strict": strict,
    "strict-support": strict_support,
    "strict-at-domain": strict_at_domain,
    "relaxed-at-domain": relaxed_at_domain,
    "relaxed-at-domain-node": relaxed_at_domain_node,
}


def _supported(leaf: Node, least: int) -> Node:
    """Return the nearest node from the leaf up that has seen at least so many documents, or else the domain's."""
    node = leaf
    while node.documents < least and node.parent is not None:
        node = node.parent
    return node


def _domain(leaf: Node) -> Node:
    *_, root = leaf.up()
    return root


def _relaxed(leaf: Node, config: HeuristicConfig) -> int:
    return config.relaxed_c_max if _domain(leaf).documents > config.relaxed_above else config.c_max
