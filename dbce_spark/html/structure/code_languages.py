"""The language that a block of code is in, as its page says."""

import re
from typing import Any

_ATTRIBUTES = ("data-language", "data-lang")
_ATTRIBUTE_ENDS = ("-language", "-lang")
"""Of other attributes that may name a language, such as `data-enlighter-language`."""
_CLASS = re.compile(r"(?:^|\s)(?:language|lang|brush|highlight-source|highlight-text|highlight)[-:]\s*([\w+#.-]+)")
_PREFIXED_CLASS = re.compile(r"-(?:language|lang|code)-([\w+#]+)(?=\s|$)|(?:^|\s)hl-([\w+#]+)")
"""Classes such as `mw-highlight-lang-c`, `gatsby-code-jsx` and `hl-ipython3`."""
_HIGHLIGHTED = frozenset("code highlight hljs sourcecode syntaxhighlighter".split())
"""Classes that elements have whose other classes may name a language."""
_NO_LANGUAGES = frozenset("default none plain plaintext rouge text txt wrap wrapper".split())
_LANGUAGES = frozenset(
    "actionscript ada apache applescript arduino asm assembly autohotkey awk bash bat c c# c++ clj clojure cmake"
    " cobol coffeescript console cpp cs csharp css cuda cython dart delphi diff docker dockerfile elixir elm erlang f#"
    " fortran fsharp glsl go golang gradle graphql groovy haml handlebars haskell hcl hs html http ini ipython"
    " ipython3 java javascript jinja js json json5 jsonc jsx julia kotlin kt latex lisp lua makefile markdown"
    " mathematica matlab mysql nasm nginx nim nix objc objective-c objectivec ocaml octave pascal perl php pl"
    " postgresql powershell prolog protobuf ps1 puppet py pycon python python3 r racket rb rs ruby rust sass scala"
    " scss sh shell shell-session sol solidity sql svelte swift systemverilog tcl terraform tex toml ts tsql tsx"
    " typescript vb vbnet verilog vhdl vim vue wasm xhtml xml yaml yml zig zsh".split()
)
"""Names by which Pygments and highlight.js, the commonest programs that colour code, know the languages that are used
most; without those that are also words of layouts, such as `basic` and `less`."""
_ABOVE = 4
"""Elements around a block of code that may say its language."""
_TABLE_PARTS = ("table", "tbody", "tr", "td")
"""Around code whose lines are numbered in a column of their own."""
_SPOKEN = 2
"""Letters in the tag of a language that people speak, such as `cs`; in `lang` of code it is that, too."""


def language_of(pre: Any, languages: dict[Any, str | None]) -> str:
    """Find the language that a block of code, what is in it or what is around it alone says it is in.

    `languages` are those of elements that were looked at: a thousand blocks may stand in one of them.
    """
    around: list[Any] = []
    for above in pre.iterancestors():
        if len(around) == _ABOVE or above.tag in ("body", "article", "main", "section"):
            break
        if above.tag not in _TABLE_PARTS:
            around.append(above)
    for element in (pre, *pre.iterdescendants("code"), *around):
        if element not in languages:
            languages[element] = _declared(element)
        if (found := languages[element]) is not None:
            return found
    return ""


def _declared(element: Any) -> str | None:
    """Find the language that an element says it is in: "" for none, None where it says nothing."""
    for name in _ATTRIBUTES:
        if value := (element.get(name) or "").strip().lower():
            return "" if value in _NO_LANGUAGES else value
    classes: str = (element.get("class") or "").lower()
    named: list[str] = [found for found in _CLASS.findall(classes) if found not in _NO_LANGUAGES]
    if named:
        return next(filter(_LANGUAGES.__contains__, named), named[0])
    return _known_by_attribute(element) or _known_by_class(classes, is_code=element.tag in ("pre", "code"))


def _known_by_attribute(element: Any) -> str | None:
    for name, value in element.items():
        is_coded = name.endswith(_ATTRIBUTE_ENDS) or name == "language"
        if name == "lang":
            is_coded = element.tag in ("pre", "code") and len(value.strip()) > _SPOKEN
        if is_coded and value.strip().lower() in _LANGUAGES:
            return str(value.strip().lower())
    return None


def _known_by_class(classes: str, *, is_code: bool) -> str | None:
    """Find the name of a language among classes: behind what others put before it, or by itself on an element that is
    for code or says so."""
    for found in _PREFIXED_CLASS.finditer(classes):
        if (name := found[1] or found[2]) in _LANGUAGES:
            return name
    words = [word.partition(":")[0] for word in classes.split()]
    return next(filter(_LANGUAGES.__contains__, words), None) if is_code or not _HIGHLIGHTED.isdisjoint(words) else None
