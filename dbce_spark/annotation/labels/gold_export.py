"""Export merged labels as a gold set: the JSON lines that `dbce evaluate` and `dbce train` read."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dbce_spark.annotation.labels.majority import MergedPage
from dbce_spark.annotation.markup.page_file import TEXTS, Sheet
from dbce_spark.errors import InputError
from dbce_spark.files.jsonl import Fields
from dbce_spark.model import Label


def entries(sheets: Iterable[Sheet], merged: Mapping[str, MergedPage], *, dataset: str) -> Iterator[Fields]:
    """Yield a gold page for each page that is merged, in the order of the pages.

    `gold` is its content, `gold_wide` that and what is undecided, `gold_comments` the readers' comments, which are in
    neither; all have the words as the page has them.

    Raises:
        InputError: a page has other segments than its labels, is there twice, or a merged page is not among the pages.
    """
    left = set(merged)
    for sheet in sheets:
        if sheet.page not in merged:
            continue
        if sheet.page not in left:
            raise InputError(f"two pages have the id {sheet.page}; give each once")
        left.remove(sheet.page)
        tags, comments = merged[sheet.page].tags, {*merged[sheet.page].comments}
        if len(tags) != len(sheet.segments):
            raise InputError(f"{sheet.page}: {len(tags)} labels of {len(sheet.segments)} segments; merge again")
        own = [None if at in comments else tag for at, tag in enumerate(tags)]
        of_readers = [tag if at in comments else None for at, tag in enumerate(tags)]
        yield {
            "id": sheet.page,
            **{name: value for name in TEXTS if (value := getattr(sheet, name))},
            "html": sheet.html,
            "gold": text(sheet, own, {Label.CONTENT}),
            "gold_wide": text(sheet, own, {Label.CONTENT, Label.UNDECIDED}),
            **({"gold_comments": text(sheet, of_readers, {Label.CONTENT})} if comments else {}),
            "annotators": len(merged[sheet.page].annotators),
            "dataset": dataset,
        }
    if left:
        raise InputError(f"{len(left)} merged pages are not among the pages, such as {min(left)}")


def text(sheet: Sheet, tags: Sequence[Label | None], wanted: Collection[Label]) -> str:
    """Join the segments with the wanted labels: those that follow one another in a line stay in one line."""
    parts: list[str] = []
    before = None
    for at, (span, tag) in enumerate(zip(sheet.segments, tags, strict=True)):
        if tag not in wanted:
            continue
        if before is not None:
            between = sheet.text[sheet.segments[before].end : span.start]
            is_next = before == at - 1 and "\n" not in between
            parts.append(between if is_next else "\n")
        parts.append(sheet.text[span.start : span.end])
        before = at
    return "".join(parts)
