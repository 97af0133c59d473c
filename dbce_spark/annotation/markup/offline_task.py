"""Write the thesis's task as files: the `cur` of a cross with one segment highlighted after the other, and its
neighbours.

One file a cross, opened in a browser from wherever it lies: there is no server. Tags are kept in the browser as they
grow, and saved as a submission.
"""

import json
from collections.abc import Iterable

from dbce_spark.annotation.markup import segment_marks
from dbce_spark.annotation.markup.cross_tasks import CrossTask
from dbce_spark.files import storage
from dbce_spark.html import sealed_html
from dbce_spark.model import ARMS, Label, digest
from dbce_spark.report.overlay import STRONG
from dbce_spark.report.svg.html_template import template

_PACKAGE = "dbce_spark.annotation"
KEYS = {Label.BOILERPLATE: "1", Label.UNDECIDED: "2", Label.CONTENT: "3"}
"""Keys of the labels, as in KrdWrd's manual (2.1)."""


def write(folder: str, crosses: Iterable[CrossTask]) -> None:
    """Write one file for each cross, and index.html.

    Raises:
        PageError: the text of a cross is not that of its page.
    """
    listed = []
    for one in crosses:
        name = f"{digest(one.sheet.page)[:16]}.html"
        storage.write_text(f"{folder}/{name}", document(one))
        listed.append((name, one.sheet.url, one.sheet.date, len(one.neighbours), len(one.sheet.segments)))
    storage.write_text(f"{folder}/index.html", template(_PACKAGE, "crosses.html.j2").render(crosses=listed))


def document(one: CrossTask) -> str:
    """Render a cross to label, as one file that loads nothing.

    Raises:
        PageError: its text is not that of its page.
    """
    task = {
        "page": one.sheet.page,
        "text_digest": one.sheet.text_digest,
        "segments": len(one.sheet.segments),
        "class": segment_marks.CLASS,
        "keys": {key: label.word for label, key in KEYS.items()},
        "colours": {label.word: colour for label, colour in STRONG.items()},
    }
    neighbours = [(arm, one.neighbours[arm]) for arm in ARMS[1:] if arm in one.neighbours]
    return template(_PACKAGE, "task.html.j2").render(
        url=one.sheet.url,
        date=one.sheet.date,
        page=segment_marks.mark_segments(one.sheet),
        neighbours=[
            (arm, near.url, near.date, sealed_html.sealed_html(near.html.encode("utf-8", "replace")))
            for arm, near in neighbours
        ],
        labels=[
            (KEYS[label], label.word, STRONG[label]) for label in (Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED)
        ],
        task=json.dumps(task),
    )
