"""Labels and evidence as spans of a page's text."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.export.attributes import EVIDENCE, FOLDERS, LABELS, evidence, labels
from tests.support.exports import Spans, exported, extractions, lines, without, written
from tests.support.sample_output import rows

SEGMENT = {"score": 0.5, "label": "content", "siblings": 0, "siblings_with": 0, "snapshots": 0, "snapshots_with": 0}


def page(*pieces: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A row whose page has a block for each piece of text, of one segment."""
    segments, text = [], ""
    for at, (piece, values) in enumerate(pieces):
        segments.append(SEGMENT | {"block": at, "start": len(text), "end": len(text) + len(piece)} | values)
        text += piece + "\n"
    return {"capture_id": "a", "page_text": text[:-1], "segments": segments, "words": 4, "text_words": 1}


def spans_of(row: dict[str, Any]) -> dict[str, Spans]:
    """The attributes of a page by their names."""
    batch = extractions(row)
    found: dict[str, Spans] = {}
    for line in (*labels(batch, "web"), *evidence(batch, "web")):
        parsed = json.loads(line)
        assert ("a", "web") == (parsed["id"], parsed["source"])
        found |= {name: [tuple(span) for span in spans] for name, spans in parsed["attributes"].items()}
    return found


def test_a_span_reaches_to_the_next_segment_in_code_points() -> None:
    """A letter beyond the Basic Multilingual Plane is one character, and the line's end is its line's."""
    row = page(("😀 𝔘n", {"score": 0.9}), ("menu", {"label": "boilerplate", "score": 0.2}), ("end", {}))
    found = spans_of(row)

    assert [(0, 5, 0.9), (10, 13, 0.5)] == found["dbce__labels__content"]
    assert [(5, 10, 0.8)] == found["dbce__labels__boilerplate"]
    assert [] == found["dbce__labels__undecided"]
    assert [(0, 13, 0.25)] == found["dbce__labels__main_text"]


def test_neighbours_of_a_block_with_one_label_are_one_span() -> None:
    """Segments of one block with one label are one span, whatever evidence divides them; two blocks are two."""
    row = page(("one", {}), ("two", {}), ("three", {}))
    row["segments"][1]["block"] = 0

    assert [(0, 8, 0.5), (8, 13, 0.5)] == spans_of(row)["dbce__labels__content"]


def test_evidence_is_the_share_of_pages_that_have_a_text() -> None:
    """Two of three siblings are two thirds; text that was compared with none has no span."""
    compared = {"siblings": 3, "siblings_with": 2}
    found = spans_of(
        page(
            ("a", compared),
            ("b", {}),
            ("c", compared | {"siblings_with": 0}),
            ("d", {"snapshots": 1, "snapshots_with": 1}),
        )
    )

    assert [(0, 2, 0.6667), (4, 6, 0.0)] == found["dbce__evidence__siblings"]
    assert [(6, 7, 1.0)] == found["dbce__evidence__snapshots"]


def test_a_batch_that_filters_emptied_has_no_lines() -> None:
    """Others may have some."""
    batch = extractions(page(("one", {}))).slice(0, 0)

    assert [] == [*labels(batch, "web"), *evidence(batch, "web")]


def test_a_page_without_segments_has_no_spans() -> None:
    """A page without segments has only the span of its main text, with a share of 0."""
    found = spans_of(page() | {"page_text": "", "words": 0, "text_words": 0})

    assert [(0, 0, 0.0)] == found.pop("dbce__labels__main_text")
    assert [[]] * 5 == list(found.values())


PIECES = st.text(st.characters(codec="utf-8", categories=("L", "So", "Mn")), min_size=1, max_size=5)
SAID = st.fixed_dictionaries(
    {"label": st.sampled_from(["content", "boilerplate", "undecided"]), "score": st.sampled_from([0.0, 0.25, 1.0])}
)


@given(st.lists(st.tuples(PIECES, SAID), min_size=1, max_size=9))
def test_the_spans_of_all_labels_are_the_page(pieces: list[tuple[str, dict[str, Any]]]) -> None:
    """Each character is in the spans of one label, and what is left without the others is the text of that label."""
    row = page(*pieces)
    found = spans_of(row)
    spans = {name.removeprefix("dbce__labels__"): found[name] for name in found if name.startswith("dbce__labels__")}
    del spans["main_text"]
    covered = sorted(at for some in spans.values() for start, end, _ in some for at in range(start, end))

    assert [*range(len(row["page_text"]))] == covered
    for label in spans:
        others = [span for name, some in spans.items() if name != label for span in some]
        kept = [piece for piece, values in pieces if values["label"] == label]
        assert "\n".join(kept) == without(row["page_text"], others).removesuffix("\n")


def test_attributes_stand_beside_their_documents(extracted: Path, tmp_path: Path) -> None:
    """Each folder of attributes has the files of the documents, with the same ids in the same order."""
    files = written(exported(extracted, tmp_path / "out", "dolma", shard_bytes=20_000))
    names = [name.removeprefix("documents/") for name in files if name.startswith("documents/")]

    assert len(names) > 8
    assert {"export.json", *(f"documents/{name}" for name in names)} | {
        f"attributes/{folder}/{name}" for folder in FOLDERS for name in names
    } == set(files)
    for name in names:
        ids = [line["id"] for line in lines(files[f"documents/{name}"])]
        assert [ids, ids] == [[line["id"] for line in lines(files[f"attributes/{one}/{name}"])] for one in FOLDERS]


def test_a_page_without_its_boilerplate_is_its_main_text(extracted: Path, tmp_path: Path) -> None:
    """Taking out the spans of boilerplate leaves, of every page of the sample, the column `text`."""
    files = written(exported(extracted, tmp_path / "out", "dolma"))
    texts = {row["capture_id"]: row["text"] for row in rows(extracted, "extractions", ["capture_id", "text"])}
    left = {}
    for name in [name for name in files if name.startswith("documents/")]:
        label_lines = lines(files[name.replace("documents", f"attributes/{LABELS}")])
        for document, labelled in zip(lines(files[name]), label_lines, strict=True):
            kept = without(document["text"], labelled["attributes"]["dbce__labels__boilerplate"])
            left[document["id"]] = kept.removesuffix("\n")

    assert texts == left


def test_pages_of_a_template_have_evidence(extracted: Path, tmp_path: Path) -> None:
    """In the sample some text stands in all siblings, some in none, and some pages have snapshots."""
    files = written(exported(extracted, tmp_path / "out", "dolma"))
    found = [line["attributes"] for name in files if f"/{EVIDENCE}/" in name for line in lines(files[name])]
    by_siblings = {score for one in found for _, _, score in one["dbce__evidence__siblings"]}

    assert {0.0, 1.0} <= by_siblings
    assert any(one["dbce__evidence__snapshots"] for one in found)
