"""Set two labellings of a page side by side, over the page as it looks, to show where they differ, and which is wrong.

Text on which both agree has a light colour; text on which they differ has, saturated, the colour of the reference, and
a line below it in that of the other (KrdWrd 3.3.3 and 4.3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

import dbce_spark
from dbce_spark.dbce import single
from dbce_spark.dbce.kept import annotated_html
from dbce_spark.files import storage
from dbce_spark.html import sealed_html
from dbce_spark.html.tokens import tokens
from dbce_spark.model import Label, digest
from dbce_spark.report.svg.html_template import css, template

LIGHT = {Label.CONTENT: "#d8f3d4", Label.BOILERPLATE: "#fbdcd9", Label.UNDECIDED: "#fdf4cd"}
STRONG = {Label.CONTENT: "#35b34a", Label.BOILERPLATE: "#ef5a50", Label.UNDECIDED: "#f5c400"}
"""Colours of the manual (KrdWrd 3.3.1): green, red, yellow; light where two labellings agree."""

_INK = "#14181d"
_NONE = "none"
_PACKAGE = "dbce_spark.report.overlay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A page under two labellings."""

    page: str  # its id
    url: str
    html: str
    text: str  # all of the page's text, in its order; white space does not count
    spans: Sequence[tuple[int, int]]  # of the segments, characters of the text
    reference: Sequence[Label | None]  # one a segment; None: unknown, and not compared
    given: Sequence[Label | None]  # one a segment


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDifference:
    """The difference between two labellings of a page, in words."""

    page: str
    url: str
    words: int  # that the reference labels
    missed: int  # content of the reference that the other does not call content
    added: int  # called content by the other alone
    other: int  # boilerplate and undecided text taken for each other

    @property
    def differing(self) -> int:
        """Count the words on which the two differ."""
        return self.missed + self.added + self.other

    @property
    def share(self) -> float:
        """Divide the words on which the two differ by all, 0 to 1."""
        return self.differing / self.words if self.words else 0.0

    @property
    def file(self) -> str:
        """Build the name of the page's file: from a digest of the id, whatever characters that has."""
        return f"{digest(self.page)[:16]}.html"


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the two labellings."""

    reference: str
    given: str


def difference(contrast: Contrast) -> LabelDifference:
    """Count the words on which the two labellings of a page differ."""
    words = missed = added = other = 0
    for (start, end), reference, given in zip(contrast.spans, contrast.reference, contrast.given, strict=True):
        if reference is None:
            continue
        length = len(tokens(contrast.text[start:end]))
        words += length
        if reference == given:
            continue
        if reference is Label.CONTENT:
            missed += length
        elif given is Label.CONTENT:
            added += length
        else:
            other += length
    return LabelDifference(page=contrast.page, url=contrast.url, words=words, missed=missed, added=added, other=other)


def page_html(contrast: Contrast) -> str:
    """Colour the page by the two labellings: without scripts, and loading nothing.

    Raises:
        PageError: lxml finds no element in it, or its text is another one.
    """
    segments = single.of_spans(contrast.spans)
    classes = [_css_class(*pair) for pair in zip(contrast.reference, contrast.given, strict=True)]
    return annotated_html.coloured_html(
        contrast.html.encode("utf-8", "replace"), contrast.text, segments, classes.__getitem__, style()
    )


def document(contrast: Contrast, names: Names, found: LabelDifference) -> str:
    """Build the page under a bar that explains the colours and has the difference `found`, as one file; the page lies
    in a frame that lets it do nothing.

    Raises:
        PageError: see `page_html`.
    """
    return template(_PACKAGE, "contrast.html.j2").render(
        policy=Markup(sealed_html.POLICY),
        names=names,
        difference=found,
        page=page_html(contrast),
        colours=_colours(),
        url=contrast.url or contrast.page,
    )


def write(folder: str, contrasts: Iterable[Contrast], names: Names) -> list[LabelDifference]:
    """Write a file a page, and an index.html that lists them from those which differ most. Return the differences.

    Raises:
        PageError: see `page_html`.
    """
    found = []
    for one in contrasts:
        found.append(difference(one))
        storage.write_text(f"{folder}/{found[-1].file}", document(one, names, found[-1]))
    found.sort(key=lambda one: (-one.share, -one.differing, one.page))
    storage.write_text(f"{folder}/index.html", index(found, names))
    return found


def index(differences: Sequence[LabelDifference], names: Names) -> str:
    """Build a page that links those of `differences`, in their order."""
    words = sum(one.words for one in differences)
    return template(_PACKAGE, "index.html.j2").render(
        css=css(),
        names=names,
        differences=differences,
        words=words,
        share=sum(one.differing for one in differences) / max(1, words),
        version=dbce_spark.__version__,
    )


def style() -> str:
    """Write the rules of all classes that `page_html` gives."""
    rules = [f".dbce-agree-{label.word} {{ {_background(LIGHT[label])} }}" for label in Label]
    for label in Label:
        rules.append(f".dbce-differ-{label.word} {{ {_background(STRONG[label])} }}")
        rules.append(f".dbce-gave-{label.word} {{ box-shadow: 0 3px 0 {STRONG[label]} !important }}")
    return "\n".join(rules)


def _css_class(reference: Label | None, given: Label | None) -> str:
    if reference is None:
        return "dbce-unknown"
    if reference == given:
        return f"dbce-agree-{reference.word}"
    return f"dbce-differ-{reference.word} dbce-gave-{_NONE if given is None else given.word}"


def _background(colour: str) -> str:
    return f"background: {colour} !important; color: {_INK} !important"


def _colours() -> list[tuple[str, str, str]]:
    order = (Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED)
    return [(label.word, LIGHT[label], STRONG[label]) for label in order]
