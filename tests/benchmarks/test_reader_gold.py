"""Gold pages from labels by a reader and the set that has the pages."""

import hashlib
import json
from pathlib import Path

import pytest

from benchmarks import reader_gold
from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets

HTML = """<html><head><title>Tides</title><style>p {}</style></head><body><ul><li>Home</ul>
<h1>Tides</h1><p>High at <b>six</b>,
  low at noon.</p><script>x()</script><!-- no --><p>Anna: thanks!</p></body></html>"""
TEXTS = ["Tides", "Home", "Tides", "High at", "six", ", low at noon.", "Anna: thanks!"]


def files(folder: Path, texts: list[str]) -> tuple[str, str]:
    """Write a set of one page, and labels of it."""
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
    label = {
        "id": "a",
        "url": "",
        "page_type": "page",
        "nodes": 7,
        "texts": digest,
        "content": "2-4,5",
        "comments": "6",
    }
    paths = folder / "set.jsonl", folder / "labels.jsonl"
    page = {"id": "a", "html": HTML, "gold": "High at six", "dataset": "set", "url": "http://a.example.org/"}
    for path, one in zip(paths, (page, label), strict=True):
        path.write_text(json.dumps(one) + "\n")
    return str(paths[0]), str(paths[1])


def test_text_nodes_are_those_that_a_reader_was_shown() -> None:
    assert TEXTS == reader_gold.text_nodes(HTML)


def test_a_page_that_is_nothing_has_no_text_nodes() -> None:
    assert [] == reader_gold.text_nodes("")


def test_labels_and_set_make_gold_pages(tmp_path: Path) -> None:
    output = str(tmp_path / "gold.jsonl")

    assert 1 == reader_gold.write(*files(tmp_path, TEXTS), output)
    ((page,),) = datasets.read([output]).sets.values()
    assert ("set-read", "page") == (page.dataset, page.page_type)
    assert "Tides\nHigh at\nsix\n, low at noon." == page.gold
    assert "Anna: thanks!" == page.comments
    assert [0, 0, 1, 1, 1, 1, 2] == [label for label, _ in page.nodes]


LABELS = Path(reader_gold.__file__).parent / "labels"


@pytest.mark.parametrize("name", ["canola", "cleaneval-final", "daniel", "dragnet", "l3s-gn1", "wcxb"])
def test_labels_hold_for_the_texts_of_their_set(name: str, shared_data: Path, tmp_path: Path) -> None:
    """Reading bytes or text nodes in another way makes other texts: then the labels of these pages move along."""
    labels = LABELS / f"{name}.jsonl"
    pages = shared_data / "gold" / f"{name}.jsonl.xz"
    written = reader_gold.write(str(pages), str(labels), str(tmp_path / "gold.jsonl"))

    assert len(labels.read_text().splitlines()) == written


def test_labels_of_another_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="page a of the set has other texts"):
        reader_gold.write(*files(tmp_path, [*TEXTS, "more"]), str(tmp_path / "gold.jsonl"))


def test_a_page_that_the_set_lacks_is_named(tmp_path: Path) -> None:
    set_path, labels_path = files(tmp_path, TEXTS)
    Path(set_path).write_text(json.dumps({"id": "b", "html": HTML, "gold": "x"}) + "\n")

    with pytest.raises(InputError, match="has no page a"):
        reader_gold.write(set_path, labels_path, str(tmp_path / "gold.jsonl"))
