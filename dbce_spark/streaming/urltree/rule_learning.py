"""Learn rules for query parameters from the stream: the future work of the paper's section 6.

For the documents of one script (host and path), all sets of parameters are compared: the set that errs on the fewest
pairs of documents is the rule's. It errs on a pair with two keys though the two are the same, or with one key though
they differ. Two documents are the same if they have one title and nearly the same blocks.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dbce_spark.streaming.urltree.blocks import Keys
from dbce_spark.streaming.urltree.url_keys import TITLE, UrlKey
from dbce_spark.streaming.urltree.urltree_settings import LearnConfig, Rule

_MOST_PARAMETERS = 8
"""Parameters of a script, those with most values: 256 sets of them are tried."""

Matrix = npt.NDArray[np.bool_]
"""(documents, documents): True for the pairs of which something holds."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A document of a script: its parameters, `_cid_` among them, and the first words of its block keys, sorted."""

    parameters: dict[str, str]
    blocks: npt.NDArray[np.uint64]


class Learner:
    """Watches documents as they arrive, before duplicates are dropped, and learns rules from them."""

    def __init__(self, config: LearnConfig):
        self._config = config
        self._scripts: OrderedDict[str, list[_Seen]] = OrderedDict()

    def see(self, key: UrlKey, blocks: Keys) -> None:
        """Take note of a document. blocks: (blocks, key words), its keys."""
        script, _, query = key.titled.partition("://")[2].partition("?")
        seen = self._scripts.setdefault(script, [])
        self._scripts.move_to_end(script)
        if len(seen) < self._config.documents:
            parameters = dict(pair.partition("=")[::2] for pair in query.split("&"))
            seen.append(_Seen(parameters, np.unique(blocks[:, 0])))
        if len(self._scripts) > self._config.scripts:
            self._scripts.popitem(last=False)

    def rules(self) -> list[Rule]:
        """Return a rule for each script whose documents need one, in order of scripts. Other scripts drop all
        parameters."""
        parameters = {
            script: _kept(seen, self._config.same)
            for script, seen in sorted(self._scripts.items())
            if len(seen) >= self._config.least
        }
        return [Rule(match=rf"{re.escape(script)}(\?|$)", keep=keep) for script, keep in parameters.items() if keep]


def as_toml(rules: Iterable[Rule]) -> str:
    """Write rules as conf/urltree.toml has them, to be reviewed and copied."""
    lines = [f"  {{ match = {json.dumps(rule.match)}, keep = {json.dumps(list(rule.keep))} }}," for rule in rules]
    return "\n".join(["[keys]", "rules = [", *lines, "]"]) + "\n"


def _kept(seen: Sequence[_Seen], same: float) -> tuple[str, ...]:
    """Return the parameters that err on the fewest pairs; of equal sets one without the title, then the smallest."""
    is_same = _same(seen, same)
    equal = {name: _equal([one.parameters.get(name) for one in seen]) for name in _names(seen)}
    return min(
        _sets(list(equal)),
        key=lambda chosen: (_errors(chosen, equal, is_same), TITLE in chosen, len(chosen), chosen),
    )


def _names(seen: Sequence[_Seen]) -> list[str]:
    """Return the parameters with most values, in alphabetical order."""
    values = {name: len({one.parameters.get(name) for one in seen}) for one in seen for name in one.parameters}
    return sorted(sorted(values, key=lambda name: (-values[name], name))[:_MOST_PARAMETERS])


def _sets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all subsets of these names, smaller ones first."""
    for count in range(len(names) + 1):
        yield from combinations(names, count)


def _errors(chosen: Iterable[str], equal: dict[str, Matrix], is_same: Matrix) -> int:
    """Count the pairs of documents that share a key but differ, or are the same under two keys."""
    has_one_key = np.ones_like(is_same)
    for name in chosen:
        has_one_key &= equal[name]
    return int(np.count_nonzero(has_one_key != is_same))


def _same(seen: Sequence[_Seen], same: float) -> Matrix:
    """Compare all pairs of documents: True where titles are equal and at least a share `same` of the blocks is
    common."""
    found = _equal([one.parameters.get(TITLE) for one in seen])
    for one, other in zip(*np.nonzero(np.triu(found, 1)), strict=True):
        common = len(np.intersect1d(seen[one].blocks, seen[other].blocks, assume_unique=True))
        union = len(seen[one].blocks) + len(seen[other].blocks) - common
        found[one, other] = found[other, one] = common >= same * union
    return found


def _equal(values: Sequence[str | None]) -> Matrix:
    """Compare all pairs of values: True where they are equal."""
    numbers = {value: at for at, value in enumerate(dict.fromkeys(values))}
    column = np.array([numbers[value] for value in values])
    equal: Matrix = column[:, None] == column[None, :]
    return equal
