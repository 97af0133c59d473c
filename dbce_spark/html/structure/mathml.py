"""MathML, and the elements that MathJax draws it with, as LaTeX."""

from collections.abc import Callable
from typing import Any
from unicodedata import decomposition

_MAX_DEPTH = 60
"""Deeper than any formula; what is deeper is its text."""

_LETTERS = (
    ("αβγδϵεζηθικλμνξ", "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi"),
    ("πρστυφϕχψω", "pi rho sigma tau upsilon varphi phi chi psi omega"),
    ("ΓΔΘΛΞΠΣΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"),
    ("∑∏∫∮∞∂∇√±∓×÷⋅·⋆∘", "sum prod int oint infty partial nabla surd pm mp times div cdot cdot star circ"),
    ("≤≥≠≈≡∼∝→←↔", "leq geq neq approx equiv sim propto rightarrow leftarrow leftrightarrow"),
    ("⇒⇔↦∀∃∈∉⊂⊆∪∩", "Rightarrow Leftrightarrow mapsto forall exists in notin subset subseteq cup cap"),
    ("∅∧∨¬…⋯⟨⟩‖", "emptyset land lor neg ldots cdots langle rangle |"),
    ("ℝℕℤ", "mathbb{R} mathbb{N} mathbb{Z}"),
)
_SIGNS = {sign: f"\\{name}" for signs, names in _LETTERS for sign, name in zip(signs, names.split(), strict=True)}
_PLAIN = {"∗": "*", "−": "-", "′": "'", "\\": r"\backslash", **{sign: rf"\{sign}" for sign in "{}%&#_$"}}
_SPECIAL = _SIGNS | _PLAIN | dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", "")
_NAMED = frozenset("sin cos tan cot sec csc log ln exp lim max min sup inf det arg deg dim gcd ker Pr".split())
_ACCENTS = {
    **dict(zip("^¯‾→~˙¨ˆ˜", "hat bar bar vec tilde dot ddot hat tilde".split(), strict=True)),
    "rightarrow": "vec",
}
_ITALIC = frozenset(map(chr, (0x210E, *range(0x1D434, 0x1D49C), *range(0x1D6E2, 0x1D756))))
"""Letters of Latin and Greek that are italic, also bold; h has its place elsewhere."""


def latex(formula: Any) -> str:
    """Write a <math> element, or an <mjx-math> one, as LaTeX."""
    return " ".join(_row(formula, 0).split())


def _row(element: Any, depth: int) -> str:
    children = _children(element)
    if not children:
        return _leaf(element, depth)
    parts = [_element(child, depth + 1) for child in children]
    return " ".join(part for part in parts if part)


def _element(element: Any, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return _leaf(element, depth)
    write = _WRITERS.get(_name(element), _row)
    return write(element, depth)


def _name(element: Any) -> str:
    """Read the name of an element; MathJax puts "mjx-" before those of MathML."""
    return str(element.tag).removeprefix("mjx-")


def _children(element: Any) -> list[Any]:
    """List the children that count; MathJax has some more for the layout."""
    found: list[Any] = []
    pending = [*reversed(element)]
    while pending:
        child = pending.pop()
        name = _name(child)
        if name in _LAYOUT:
            pending += reversed(child)
        elif name not in _PASSED_OVER:
            found.append(child)
    return found


_PASSED_OVER = frozenset("strut nstrut dstrut line annotation annotation-xml assistive-mml mspace surd".split())
_LAYOUT = frozenset("script frac num dbox dtable row den base box sqrt root table itable under over".split())


def _leaf(element: Any, _: int) -> str:
    return _escaped("".join(element.itertext()))


def _identifier(element: Any, _: int) -> str:
    text = "".join("".join(element.itertext()).split())
    if text in _NAMED:
        return f"\\{text}"
    return _escaped(text)


def _text(element: Any, _: int) -> str:
    text = " ".join("".join(element.itertext()).split())
    return rf"\text{{{text}}}" if any(map(str.isalnum, text)) else _escaped(text)


def _escaped(text: str) -> str:
    parts = []
    for character in text:
        plain = _plain(character)
        special = _SPECIAL.get(plain)
        parts.append(plain if special is None else special)
        if special and special.startswith("\\"):
            parts.append(" ")
    return "".join(parts).strip()


def _plain(character: str) -> str:
    """Undo the letters of their own that stand for italic ones."""
    code = decomposition(character).removeprefix("<font> ") if character in _ITALIC else ""
    return chr(int(code, 16)) if code else character


def _parts(element: Any, count: int, depth: int) -> list[str]:
    children = _children(element)[:count]
    return [_element(child, depth + 1) for child in children] + [""] * (count - len(children))


def _fraction(element: Any, depth: int) -> str:
    above, below = _parts(element, 2, depth)
    return rf"\frac{{{above}}}{{{below}}}"


def _root(element: Any, depth: int) -> str:
    return rf"\sqrt{{{_row(element, depth)}}}"


def _nth_root(element: Any, depth: int) -> str:
    of, nth = _parts(element, 2, depth)
    return rf"\sqrt[{nth}]{{{of}}}"


def _scripts(*signs: str) -> Callable[[Any, int], str]:
    def write(element: Any, depth: int) -> str:
        base, *scripts = _in_order(str(element.tag), _parts(element, 1 + len(signs), depth))
        accent = _ACCENTS.get(scripts[0].lstrip("\\"))
        if accent and "over" in str(element.tag) and len(signs) == 1:
            return rf"\{accent}{{{base}}}"
        written = "".join(f"{sign}{{{script}}}" for sign, script in zip(signs, scripts, strict=True) if script)
        return (base or "{}") + written

    return write


def _in_order(tag: str, parts: list[str]) -> list[str]:
    """Put base, lower and upper script in this order; MathJax's elements stand as they are drawn, from above."""
    if tag in ("mjx-mover", "mjx-msubsup"):
        return [*parts[:-2], parts[-1], parts[-2]]
    return [*parts[1:], parts[0]] if tag == "mjx-munderover" else parts


def _table(element: Any, depth: int) -> str:
    rows = [row for row in _children(element) if _name(row) in ("mtr", "mlabeledtr")]
    if len(rows) == 1:
        cells = [_row(cell, depth + 1) for cell in _children(rows[0])]
        if _name(rows[0]) == "mlabeledtr" and cells:
            cells = [*cells[1:], cells[0]]
        return " ".join(cells)
    lines = [" & ".join(_row(cell, depth + 1) for cell in _children(row)) for row in rows]
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


_WRITERS: dict[str, Callable[[Any, int], str]] = {
    "mi": _identifier,
    "mn": _leaf,
    "mo": _leaf,
    "c": _leaf,
    "mtext": _text,
    "ms": _text,
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": _nth_root,
    "msub": _scripts("_"),
    "msup": _scripts("^"),
    "msubsup": _scripts("_", "^"),
    "munder": _scripts("_"),
    "mover": _scripts("^"),
    "munderover": _scripts("_", "^"),
    "mtable": _table,
    "mphantom": lambda *_: "",
}
