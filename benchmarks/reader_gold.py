"""Gold pages of every type from labels by a reader (`benchmarks/labels`) and the published set that has the pages."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.evaluation import formats
from dbce_spark.evaluation.datasets import LABELLED
from dbce_spark.evaluation.reader_texts import reader_texts
from dbce_spark.files import jsonl
from dbce_spark.html.dom import PageError, parse_written

CONTENT, COMMENT = 1, 2
_DIGEST_BYTES = 8


def write(set_path: str, labels_path: str, output: str) -> int:
    """Write the pages of a set that a reader labelled as gold pages with `nodes`; return how many they are.

    Raises:
        InputError: a page is not in the set, or its text is not the one that was labelled.
    """
    return jsonl.write(output, _labelled_pages(set_path, labels_path))


def _labelled_pages(set_path: str, labels_path: str) -> Iterator[dict[str, Any]]:
    pages = {entry.fields["id"]: entry.fields for entry in formats.entries(set_path)}
    for place, label in jsonl.read(labels_path):
        if label["id"] not in pages:
            raise InputError(f"{place}: {set_path} has no page {label['id']}")
        yield labelled_page(pages[label["id"]], label, place)


def labelled_page(page: Mapping[str, Any], label: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the page with the reader's labels in place of the set's gold.

    Raises:
        InputError: its text nodes are not those that were labelled.
    """
    texts = text_nodes(page["html"])
    found = hashlib.blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    if found != label["texts"]:
        raise InputError(f"{place}: page {label['id']} of the set has other texts than those labelled")
    labels = dict.fromkeys(_numbers(label["comments"]), COMMENT) | dict.fromkeys(_numbers(label["content"]), CONTENT)
    nodes = [(labels.get(at, 0), text) for at, text in enumerate(texts)]
    gold, comments = ("\n".join(text for one, text in nodes if one == kind) for kind in (CONTENT, COMMENT))
    return {
        **page,
        "dataset": f"{page.get('dataset') or 'set'}{LABELLED}",
        "page_type": label["page_type"],
        "gold": gold,
        "gold_comments": comments,
        "nodes": nodes,
        "tok_cov": 1.0,
    }


def text_nodes(html: str) -> list[str]:
    """List the text nodes of a page as they were labelled: white space collapsed, empty ones left out."""
    try:
        return [one.text for one in reader_texts(parse_written(html.encode("utf-8", "surrogatepass"))[0])]
    except PageError:
        return []


def _numbers(spans: str) -> Iterator[int]:
    """Iterate over the numbers in spans such as "3-17,20", both ends included."""
    for span in filter(None, spans.split(",")):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)
