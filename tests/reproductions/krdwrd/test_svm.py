"""Machines learn labels that are easy to learn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.rendering import UNSEEN, RenderedText, Rendering, picture_path
from dbce_spark.errors import ConfigError, InputError
from dbce_spark.model import Label
from reproductions.krdwrd import svm
from reproductions.krdwrd.svm import DOM, PIXELS, TEXT, VISUAL, Compared, Vectors, compare, plan, table, vectors

PLAN = replace(plan(), folds=3, vectors=120, grid_vectors=60, costs=(1.0,), gammas=(0.05,))


def made(pages: int = 9, segments: int = 20) -> Vectors:
    """Make pages on which words separate content well, and the DOM not at all."""
    draw = np.random.default_rng(5)
    is_content = draw.random(pages * segments) < 0.4
    noise = draw.normal(size=(len(is_content), svm.WIDTHS[TEXT]))
    noise[:, 0] = np.where(is_content, 3, -3) + draw.normal(size=len(is_content))
    return Vectors(
        values={TEXT: noise, DOM: draw.normal(size=(len(is_content), svm.WIDTHS[DOM]))},
        is_content=is_content,
        pages=np.repeat(np.arange(pages), segments),
        places=np.tile(np.arange(segments), pages),
        words=np.ones(len(is_content), np.int64),
        ids=tuple(map(str, range(pages))),
        lengths=(segments,) * pages,
    )


def test_what_separates_content_is_found_on_pages_that_were_not_seen() -> None:
    """Words find nearly all, the DOM no more than calling all boilerplate; the vote trusts words."""
    found = {one.name: one for one in compare(made(), PLAN, lambda _: None).results}

    by_regression = ["cl regression", "dom regression", "cl dom regression"]
    assert list(found) == ["cl", "dom", "cl dom", *by_regression, "vote"]
    assert min(found["cl"].accuracy, found["cl regression"].accuracy) > 0.95
    assert max(found["dom"].accuracy, found["dom regression"].accuracy) < 0.7
    assert found["vote"].accuracy >= found["cl"].accuracy - 0.05
    assert [one.features for one in found.values()] == [21, 13, 34, 21, 13, 34, 34]


def test_the_same_vectors_give_the_same_results() -> None:
    """All draws come from the seed."""
    first, second = (compare(made(6), PLAN, lambda _: None).results for _ in range(2))

    assert first == second


def test_no_page_is_predicted_by_what_was_learnt_of_it() -> None:
    """Each page is in one part alone, and in the others to learn from."""
    of = made()
    for train, test in svm._folds(of, PLAN):
        assert set(of.pages[train]) & set(of.pages[test]) == set()
        assert len(train) + len(test) == len(of.pages)


def test_results_stand_beside_the_published_ones() -> None:
    """A row for each set of features and machine, with that of table 4.1; the vote has none."""
    rows = table(compare(made(6), PLAN, lambda _: None).results).splitlines()

    assert rows[2].startswith("| cl | 21 | 0.")
    assert [rows[2].split("|")[-5:], rows[5].split("|")[1]] == [rows[5].split("|")[-5:], " cl regression "]
    assert rows[2].endswith("| 21 | 0.86 | 0.61 | 0.76 |")
    assert rows[-1].startswith("| vote | 34 |")
    assert rows[-1].endswith("|  |  |  |  |")


def test_predictions_lie_where_the_segments_are() -> None:
    """A segment without a label has no prediction."""
    labels = {"p": (Label.CONTENT, None, Label.BOILERPLATE), "q": (None, Label.CONTENT)}
    of = vectors([sheet("p", "a", "b", "c"), sheet("q", "d", "e")], labels, {})
    predicted = Compared([], {"cl": np.array([False, True, True])}).labelling(of, "cl")

    assert predicted == {"p": (Label.BOILERPLATE, None, Label.CONTENT), "q": (None, Label.CONTENT)}


def sheet(name: str, *texts: str) -> Sheet:
    html = "".join(f"<p>{text}</p>" for text in texts)
    starts = [sum(len(one) + 1 for one in texts[:at]) for at in range(len(texts))]
    spans = tuple(
        SegmentSpan(f"/html/body/p[{at + 1}]", start, start + len(one))
        for at, (start, one) in enumerate(zip(starts, texts, strict=True))
    )
    return Sheet(page=name, html=html, text="\n".join(texts), segments=spans)


def test_a_segment_without_a_label_is_not_learnt_from() -> None:
    """An undecided segment is learnt from, as not content."""
    labels = {"p": (Label.CONTENT, None, Label.UNDECIDED), "none": ()}
    found = vectors([sheet("p", "a b", "c", "d"), sheet("q", "x")], labels, {})

    assert (found.is_content.tolist(), found.words.tolist(), found.pages.tolist()) == ([True, False], [2, 1], [0, 0])
    assert {kind: some.shape for kind, some in found.values.items()} == {TEXT: (2, 21), DOM: (2, 13)}


def test_a_rendering_adds_what_is_seen() -> None:
    """One of another page is refused, and so are pages without one."""
    one = Rendering(page="p", width=1, height=1, runs=(UNSEEN,))
    labels = {"p": (Label.CONTENT,), "q": (Label.CONTENT,)}

    assert vectors([sheet("p", "a")], labels, {"p": one}).values[VISUAL].shape == (1, 8)
    for pages in ([sheet("p", "a", "b")], [sheet("q", "a")]):
        with pytest.raises(InputError, match="labels, segments and rendering do not match"):
            vectors(pages, labels, {"p": one})


def test_a_picture_adds_its_pixels(tmp_path: Path) -> None:
    """Pixels within the boxes of each segment; without a folder of pictures there are none, and a page without a
    picture is refused."""
    box = RenderedText(boxes=((0, 0, 5, 5),), font_size=16, is_visible=True)
    shown = {"p/1": Rendering(page="p/1", width=10, height=10, runs=(box, UNSEEN))}
    labels = {"p/1": (Label.CONTENT, Label.BOILERPLATE)}
    sheets = [sheet("p/1", "a", "b")]
    with pytest.raises(InputError, match="no picture"):
        vectors(sheets, labels, shown, str(tmp_path))
    Image.new("RGB", (10, 10), "white").save(picture_path(str(tmp_path), "p/1"))

    assert list(vectors(sheets, labels, shown).values) == [TEXT, DOM, VISUAL]
    assert vectors(sheets, labels, shown, str(tmp_path)).values[PIXELS].tolist() == [[1, 0, 1, 1, 0, 0], [0] * 6]


def test_pixels_are_learnt_from_alone_and_with_others() -> None:
    """Rows behind those of table 4.1, for each machine, without a published one; the vote is of all four kinds."""
    of = made(6)
    seen = {kind: np.zeros((len(of.is_content), svm.WIDTHS[kind])) for kind in (VISUAL, PIXELS)}
    seen[PIXELS][:, 0] = of.is_content
    results = compare(replace(of, values={**of.values, **seen}), PLAN, lambda _: None).results
    rows = table(results).splitlines()[2:]

    assert [one.name for one in results[7:10]] == ["pixels", "viz pixels", "cl dom viz pixels"]
    assert [one.features for one in (*results[7:10], results[-1])] == [6, 14, 48, 48]
    assert all(row.endswith("|  |  |  |  |") for row in rows[7:10])
    assert [results[7].accuracy, results[8].accuracy] == [1, 1]


def test_labels_that_teach_nothing_are_refused() -> None:
    """No labelled page, fewer pages than folds, or one label throughout."""
    with pytest.raises(InputError, match="no page has labels"):
        vectors([], {}, {})
    with pytest.raises(InputError, match="2 pages cannot be cut into 3 folds"):
        compare(made(2), PLAN, lambda _: None)
    with pytest.raises(InputError, match="have one label"):
        compare(replace(made(), is_content=np.zeros(180, np.bool_)), PLAN, lambda _: None)


@pytest.mark.parametrize("wrong", [{"folds": 1}, {"vectors": 0}, {"costs": []}, {"gammas": [0.0]}])
def test_a_plan_out_of_its_range_is_refused(wrong: dict[str, object]) -> None:
    """The error names the field."""
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        plan(wrong)
