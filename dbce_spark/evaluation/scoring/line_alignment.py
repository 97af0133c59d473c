"""Alignment of lines as ROUGE-Lsum has it: which words of a line are in a longest common subsequence with another."""

from collections.abc import Sequence
from itertools import groupby


class LineIndex:
    """The lines of a text, and the positions of each word in them."""

    def __init__(self, text: Sequence[Sequence[str]]):
        self._places: dict[str, list[int]] = {}
        self._line_of: list[int] = []
        self._ends: list[int] = []
        for number, line in enumerate(text):
            for word in line:
                self._places.setdefault(word, []).append(len(self._line_of))
                self._line_of.append(number)
            self._ends.append(len(self._line_of))
        # Words hold no white space, so that none is found in part, and none across lines.
        self._text = "\n".join(f" {' '.join(line)} " for line in text)

    def holds(self, line: Sequence[str]) -> bool:
        """Test whether the line stands in one of the text's lines, word after word."""
        return f" {' '.join(line)} " in self._text

    def steps(self, target: Sequence[Sequence[str]]) -> int:
        """Count the work of aligning these lines: for each, the words of the text that it also has."""
        return sum(len(self._places.get(word, ())) for line in target for word in set(line))

    def missed(self, line: Sequence[str]) -> list[int]:
        """List the words of the line that are in no longest common subsequence with a line of the text."""
        bits: dict[str, int] = {}
        for at, word in enumerate(line):
            bits[word] = bits.get(word, 0) | 1 << at
        places = sorted((place, mask) for word, mask in bits.items() for place in self._places.get(word, ()))
        left = (1 << len(line)) - 1
        for number, of_line in groupby(places, key=lambda found: self._line_of[found[0]]):
            left &= ~_subsequence(list(of_line), self._ends[number])
            if not left:
                break
        return [at for at in range(len(line)) if left >> at & 1]


def _subsequence(shared: Sequence[tuple[int, int]], end: int) -> int:
    """Find the words of a line A that make its longest common subsequence with a line B, as bits.

    `shared` are the words of B that A has: the place, and the bits of that word in A; B ends before `end`. The table
    of lengths is filled a column at once, as Allison and Dix (1986) do: a set bit marks that the length grows at that
    word of A. The way back is rouge-score's: over a match, else to the left where no length is lost, else up. A word
    of B that A lacks is no match, and so sends it up to the next bit.
    """
    column, columns = 0, []
    for _, match in shared:
        either = column | match
        column = either & (either ^ (either - (column << 1 | 1)))
        columns.append(column)
    taken, allowed, place_after = 0, -1, end
    for (place, match), column in zip(reversed(shared), reversed(columns), strict=True):
        if place + 1 < place_after:
            allowed = (1 << (column & allowed).bit_length()) - 1
        top = ((column | match) & allowed).bit_length()
        if not top:
            break
        bit = 1 << top - 1
        taken |= match & bit
        allowed = bit - 1 if match & bit else 2 * bit - 1
        place_after = place
    return taken
