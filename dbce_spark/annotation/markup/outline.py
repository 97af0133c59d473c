"""Describe the parts of a page that can be tagged: a tree of nodes, containers down to segments.

A tag reaches everything below its node that has none of its own (KrdWrd 3.4.2).
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.model import Label

Marks = Mapping[int, Label]
"""Tags by the node that they were put on."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The nodes of a page, in document order, each after the node that holds it.

    `parents` has one entry a node: the node that holds it, -1 for the outermost. `leaves` has one a segment: its node,
    which is also that of its block, or of a container, if these hold nothing else; `blocks` has the node of its block.
    """

    parents: tuple[int, ...]
    leaves: tuple[int, ...]
    blocks: tuple[int, ...]

    def tags(self, marks: Marks) -> Tags:
        """Resolve marks into tags, one a segment: that of the nearest marked node, its own or one around it.

        Marks on nodes that the page does not have are ignored.
        """
        return tuple(marks.get(node) for node in self.nearest(marks))

    def nearest(self, marks: Collection[int]) -> list[int]:
        """Return the nearest marked node of each segment, its own or one around it; -1 where there is none."""
        reached: list[int] = []
        for node, parent in enumerate(self.parents):
            reached.append(node if node in marks else reached[parent] if parent >= 0 else -1)
        return [reached[leaf] for leaf in self.leaves]

    def as_json(self) -> str:
        return json.dumps(self.as_fields(), separators=(",", ":"))

    def as_fields(self) -> dict[str, list[int]]:
        return {"parents": [*self.parents], "leaves": [*self.leaves], "blocks": [*self.blocks]}

    @classmethod
    def from_json(cls, text: str) -> "Outline":
        fields = json.loads(text)
        return cls(tuple(fields["parents"]), tuple(fields["leaves"]), tuple(fields["blocks"]))
