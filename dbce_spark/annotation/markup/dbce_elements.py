"""The `<dbce>` elements of a page: where its text is cut by the occurrence bits of its tokens (thesis 2.3)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.annotation.markup.token_dom import Dom
from dbce_spark.model import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class DbceElements:
    """The `<dbce>` elements of a page, in document order: maximal runs of tokens of one text node with the same
    occurrence bits."""

    starts: Ints  # tokens
    ends: Ints  # exclusive
    texts: Ints  # text nodes of the Dom
    blocks: Ints

    def __len__(self) -> int:
        return len(self.starts)


def cut(dom: Dom, per_token: npt.NDArray[np.uint8]) -> DbceElements:
    """Cut a page by the occurrence bits of its tokens: shape (crosses, tokens)."""
    changes = (np.diff(dom.token_texts) != 0) | (np.diff(dom.token_blocks) != 0)
    changes |= (per_token[:, 1:] != per_token[:, :-1]).any(axis=0)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)).astype(np.int32)
    ends = np.append(starts[1:], per_token.shape[1]).astype(np.int32)
    return DbceElements(starts=starts, ends=ends, texts=dom.token_texts[starts], blocks=dom.token_blocks[starts])
