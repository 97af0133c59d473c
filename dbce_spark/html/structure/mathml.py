"""MathML, and the elements that MathJax draws it with, as LaTeX."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
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
_NAMED = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log lg ln exp lim liminf limsup max min sup inf"
    " det arg deg dim gcd hom ker Pr".split()
)
_ABOVE = (
    ("^ˆ\u0302~˜\u0303¯‾\u0304\u0305", "hat hat hat tilde tilde tilde bar bar bar bar"),
    ("→\u20d7˙\u0307¨\u0308ˇ\u030c⏞", "vec vec dot dot ddot ddot check check overbrace"),
)
_BELOW = (("_¯‾\u0331\u0332⏟", "underline underline underline underline underline underbrace"),)
_ACCENTS = {
    place: {sign: name for signs, names in found for sign, name in zip(signs, names.split(), strict=True)}
    for place, found in (("mover", _ABOVE), ("munder", _BELOW))
}
"""Commands for signs over and under others."""
_MATRICES = {"(": "pmatrix )", "[": "bmatrix ]", "{": "Bmatrix }", "|": "vmatrix |", "‖": "Vmatrix ‖"}
"""Environments of tables between brackets, each with the second bracket."""
_VARIANTS = {
    **dict(zip(("bold", "double-struck", "script", "fraktur"), "mathbf mathbb mathcal mathfrak".split(), strict=True)),
    **dict(zip(("bold-italic", "sans-serif", "monospace"), "boldsymbol mathsf mathtt".split(), strict=True)),
}
_SCRIPTED = frozenset("mmultiscripts mover msub msubsup msup munder munderover".split())
_GROUPS = frozenset("mpadded mrow mstyle".split())
_IN_TEXT = {
    "\\": r"\textbackslash ",
    "^": r"\textasciicircum ",
    "~": r"\textasciitilde ",
    **{sign: rf"\{sign}" for sign in "#$%&_{}"},
}
"""Signs of LaTeX, as its text has them."""
_ITALIC = frozenset(map(chr, (0x210E, *range(0x1D434, 0x1D49C), *range(0x1D6E2, 0x1D756))))
"""Letters of Latin and Greek that are italic, also bold; h has its place elsewhere."""


def latex(formula: Any) -> str:
    """Write a <math> element, or an <mjx-math> one, as LaTeX."""
    return " ".join(_row(formula, 0).split())


def _row(element: Any, depth: int) -> str:
    children = _children(element)
    if not children:
        return _leaf(element, depth)
    parts: list[str] = []
    at = 0
    while at < len(children):
        written, used = _matrix(children[at : at + 3], depth)
        parts.append(written or _element(children[at], depth + 1))
        at += used
    return " ".join(part for part in parts if part)


def _matrix(children: list[Any], depth: int) -> tuple[str, int]:
    """Write a table that begins a bracket and fills it; "" where none is. Return how many elements it is, too."""
    if len(children) < 2 or _name(children[1]) != "mtable" or depth > _MAX_DEPTH:
        return "", 1
    begin, table, *behind = children
    end = _sign(behind[0]) if behind and _name(behind[0]) == "mo" else None
    if environment := _environment(_sign(begin), end or ""):
        return _table(table, depth + 1, environment), 2 if end is None else 3
    return (_table(table, depth + 1, "cases"), 2) if _sign(begin) == "{" else ("", 1)


def _environment(begin: str, end: str) -> str:
    """Find the environment of a table between two signs; "" where none is."""
    name, _, last = _MATRICES.get(begin, "").partition(" ")
    return name if name and last == end else "cases" if begin == "{" and not end else ""


def _sign(element: Any) -> str:
    """Read a sign, such as a bracket; "" of what may be more."""
    return "".join("".join(element.itertext()).split()) if _name(element) == "mo" else ""


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
    text = " ".join("".join(element.itertext()).split())
    if (name := text.replace(" ", "")) in _NAMED:
        return f"\\{name}"
    written, variant = _escaped(text), _VARIANTS.get(element.get("mathvariant") or "")
    if not variant or not text.isalnum():
        return written
    return rf"\{variant if text.isascii() or variant != 'mathbf' else 'boldsymbol'}{{{written}}}"


def _text(element: Any, _: int) -> str:
    text = " ".join("".join(element.itertext()).split())
    if not any(map(str.isalnum, text)):
        return _escaped(text)
    plain = "".join(_IN_TEXT.get(character, character) for character in text)
    return rf"\text{{{plain}}}"


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
    has_line = (element.get("linethickness") or "").strip()[:1] != "0"
    return rf"\frac{{{above}}}{{{below}}}" if has_line else rf"{{{above} \atop {below}}}"


def _fenced(element: Any, depth: int) -> str:
    """Write what stands between brackets, with commas between, or the signs that are given."""
    begin, end, signs = (
        element.get(name, default) for name, default in (("open", "("), ("close", ")"), ("separators", ","))
    )
    children = _children(element)
    if [_name(child) for child in children] == ["mtable"] and (environment := _environment(begin.strip(), end.strip())):
        return _table(children[0], depth + 1, environment)
    parts = [_element(child, depth + 1) for child in children]
    signs = "".join(signs.split())
    between = [_escaped(signs[min(at, len(signs) - 1)]) if signs else "" for at in range(len(parts) - 1)]
    within = [part for pair in zip_longest(parts, between, fillvalue="") for part in pair if part]
    return " ".join(filter(None, (_escaped(begin), *within, _escaped(end))))


def _root(element: Any, depth: int) -> str:
    return rf"\sqrt{{{_row(element, depth)}}}"


def _nth_root(element: Any, depth: int) -> str:
    of, nth = _parts(element, 2, depth)
    return rf"\sqrt[{nth}]{{{of}}}"


def _scripts(*signs: str) -> Callable[[Any, int], str]:
    def write(element: Any, depth: int) -> str:
        if accent := _accent(element):
            return rf"\{accent}{{{_element(_in_order(element)[0], depth + 1)}}}"
        parts = [_element(child, depth + 1) for child in _in_order(element)[: 1 + len(signs)]]
        base, *scripts = parts + [""] * (1 + len(signs) - len(parts))
        if base and _needs_braces(_in_order(element)[0]):
            base = f"{{{base}}}"
        return (base or "{}") + _written(signs, scripts)

    return write


def _written(signs: Sequence[str], scripts: Sequence[str]) -> str:
    return "".join(f"{sign}{{{script}}}" for sign, script in zip(signs, scripts, strict=True) if script)


def _accent(element: Any) -> str:
    """Find the command for a sign over or under another; "" for a script."""
    parts = _in_order(element)
    accents = _ACCENTS.get(_name(element))
    return accents.get("".join("".join(parts[1].itertext()).split()), "") if accents and len(parts) == 2 else ""


def _needs_braces(base: Any) -> bool:
    """Test for a base of several parts, which a script would stand at the last of, and for one with scripts."""
    while _name(base) in _GROUPS and len(children := _children(base)) == 1:
        base = children[0]
    return _name(base) in _GROUPS or (_name(base) in _SCRIPTED and not _accent(base))


def _in_order(element: Any) -> list[Any]:
    """List base, lower and upper script in this order; MathJax's elements stand as they are drawn, from above."""
    parts, tag = _children(element), element.tag
    if tag in ("mjx-mover", "mjx-msubsup"):
        return [*parts[:-2], *parts[:-3:-1]]
    if tag == "mjx-munderover":
        within = _children(parts[1]) if [_name(part) for part in parts[1:]] == ["munder"] else parts[1:]
        return [*within, *parts[:1]]
    return parts


def _multiscripts(element: Any, depth: int) -> str:
    """Write scripts in pairs: those behind the base, and those before it, which stand behind <mprescripts>."""
    base, *scripts = _children(element) or [element]
    if element.tag != "mmultiscripts" or base is element:
        return _row(element, depth)
    middle = next((at for at, one in enumerate(scripts) if one.tag == "mprescripts"), len(scripts))
    behind, before = (_pairs(some, depth) for some in (scripts[:middle], scripts[middle + 1 :]))
    written = _element(base, depth + 1)
    return (f"{{}}{before}" if before else "") + (f"{{{written}}}" if _needs_braces(base) else written) + behind


def _pairs(scripts: list[Any], depth: int) -> str:
    parts = ["" if one.tag == "none" else _element(one, depth + 1) for one in scripts]
    pairs = zip_longest(parts[::2], parts[1::2], fillvalue="")
    return "{}".join(_written("_^", pair) for pair in pairs)


def _table(element: Any, depth: int, environment: str = "") -> str:
    rows = [row for row in _children(element) if _name(row) in ("mtr", "mlabeledtr")]
    if len(rows) == 1 and not environment:
        cells = [_row(cell, depth + 1) for cell in _children(rows[0])]
        if _name(rows[0]) == "mlabeledtr" and cells:
            cells = [*cells[1:], cells[0]]
        return " ".join(cells)
    lines = [" & ".join(_row(cell, depth + 1) for cell in _children(row)) for row in rows]
    name = environment or "aligned"
    return rf"\begin{{{name}}}" + r" \\ ".join(lines) + rf"\end{{{name}}}"


_WRITERS: dict[str, Callable[[Any, int], str]] = {
    "mi": _identifier,
    "mn": _identifier,
    "mo": _identifier,
    "c": _leaf,
    "mtext": _text,
    "ms": _text,
    "mfrac": _fraction,
    "mfenced": _fenced,
    "msqrt": _root,
    "mroot": _nth_root,
    "msub": _scripts("_"),
    "msup": _scripts("^"),
    "msubsup": _scripts("_", "^"),
    "munder": _scripts("_"),
    "mover": _scripts("^"),
    "munderover": _scripts("_", "^"),
    "mmultiscripts": _multiscripts,
    "mtable": _table,
    "mphantom": lambda *_: "",
}
