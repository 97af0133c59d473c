"""Choose the pages of an output whose labels would teach most."""

from pathlib import Path

import pytest

from dbce_spark.annotation import doubtful_pages
from dbce_spark.annotation.doubtful_pages import LabelledOutput
from dbce_spark.errors import InputError
from dbce_spark.output.output_reader import open_output
from tests.support import corpus_outputs
from tests.support.corpus_outputs import Row

ROWS = (
    Row(name="a1", site="a.example", template_id="t", confidence=0.5, warc_file="a.warc"),
    Row(name="a2", site="a.example", template_id="t", confidence=0.7, warc_file="b.wacz!/archive/x.warc"),
    Row(name="a3", site="a.example", template_id="t", confidence=0.9, warc_file="a.warc"),
    Row(name="b1", site="b.example", confidence=0.2, warc_file="c.warc"),
    Row(name="c1", site="c.example", template_id="t", confidence=0.99),
    Row(name="c2", site="c.example", template_id="u", confidence=1.0),
)


def output(folder: Path, *rows: Row) -> LabelledOutput:
    written = corpus_outputs.write(folder, {"site_part=0/part-00000.parquet": rows or ROWS})
    return LabelledOutput(open_output(written))


def chosen(labelled: LabelledOutput, count: int = 3, *taken: str) -> list[str]:
    return [one.capture_id for one in doubtful_pages.choose(labelled, taken, count, most_words=9)]


def test_the_most_doubtful_templates_come_first(tmp_path: Path) -> None:
    """By all their pages together. What is certain is not asked."""
    found = doubtful_pages.choose(output(tmp_path), (), 3, most_words=9)

    assert [("a1", 3, 0.9), ("b1", 1, 0.8), ("c1", 1, 0.01)] == [
        (one.capture_id, one.pages, one.doubt) for one in found
    ]
    assert ["a1"] == chosen(output(tmp_path), 1)


def test_the_page_that_stands_for_a_template_is_among_those_in_doubt(tmp_path: Path) -> None:
    """Most pages of this one are sure, and their mean is no page that is wrong."""
    wrong = [Row(name=f"w{at}", template_id="t", confidence=0.6 - at / 100) for at in range(3)]
    right = [Row(name=f"r{at}", template_id="t", confidence=0.95) for at in range(9)]

    assert ["w0"] == chosen(output(tmp_path, *right, *wrong), 1)


def test_where_templates_are_few_several_pages_of_each_are_chosen(tmp_path: Path) -> None:
    """A second one of each after the first of all, at equal shares of the doubt; of equal ones that with the lower id;
    no page twice."""
    same = [Row(name=f"d{at}", site="d.example", template_id="t", confidence=0.9) for at in range(2)]

    assert ["a1", "b1", "d0", "a2", "d1"] == chosen(output(tmp_path, *ROWS[:4], *same), 5)
    assert ["a1", "b1", "d0", "a2", "d1", "a3"] == chosen(output(tmp_path, *ROWS[:4], *same), 9)


def test_pages_without_siblings_are_templates_of_their_own(tmp_path: Path) -> None:
    """They have nothing in common that labels of one would teach of another."""
    alone = [Row(name=f"e{at}", confidence=0.8 + at / 10) for at in range(2)]

    assert [("e0", 1), ("e1", 1)] == [
        (one.capture_id, one.pages) for one in doubtful_pages.choose(output(tmp_path, *alone), (), 5, most_words=9)
    ]


def test_copies_are_not_chosen(tmp_path: Path) -> None:
    """The page that they copy stands for them too, if it has no siblings. That of another site does not: its labels
    teach nothing here."""
    first = Row(name="g1", confidence=0.9)
    copies = [Row(name=f"g{at}", confidence=0.5, duplicate_of="g1") for at in (2, 3)]
    elsewhere = Row(name="h1", site="h.example", confidence=0.8, duplicate_of="g1")

    assert [("g1", 3, 1.1), ("h1", 1, 0.2)] == [
        (one.capture_id, one.pages, one.doubt)
        for one in doubtful_pages.choose(output(tmp_path, first, *copies, elsewhere), (), 9, most_words=9)
    ]
    assert ["h1"] == chosen(output(tmp_path, first, *copies, elsewhere), 3, "g1")


def test_a_page_has_the_doubt_of_its_copies(tmp_path: Path) -> None:
    """Twelve copies of one error page are wrong, and few of the many others: the one that they copy is asked for."""
    wrong = [Row(name="w00", template_id="t", confidence=0.6)]
    wrong += [Row(name=f"w{at:02}", template_id="t", confidence=0.6, duplicate_of="w00") for at in range(1, 12)]
    right = [Row(name=f"r{at:02}", template_id="t", confidence=0.9) for at in range(20)]

    assert ["w00"] == chosen(output(tmp_path, *right, *wrong), 1)


def test_long_pages_are_not_chosen(tmp_path: Path) -> None:
    """Another page of the template is, or none."""
    long = Row(name="f1", template_id="t", confidence=0.1, parts=corpus_outputs.text_of(10))
    short = Row(name="f2", template_id="t", confidence=0.9, parts=corpus_outputs.text_of(9))

    assert ["f2"] == chosen(output(tmp_path / "both", long, short))
    assert [] == chosen(output(tmp_path / "long", long))


def test_a_template_with_labels_is_doubted_less(tmp_path: Path) -> None:
    """Half as much with one page in the store: another one comes before it; and when all are there it is done."""
    labelled = output(tmp_path)

    assert ["b1", "a2", "c1"] == chosen(labelled, 3, "a1")
    assert ["a3"] == chosen(labelled, 1, "a1", "a2", "b1")
    assert ["c1"] == chosen(labelled, 3, "a1", "a2", "a3", "b1")


def test_sites_that_were_labelled_anew_count_as_they_are_now(tmp_path: Path) -> None:
    """Their earlier rows do not."""
    before, after = (
        output(tmp_path / "before"),
        output(tmp_path / "after", Row(name="a1", site="a.example", confidence=0.98)),
    )
    both = LabelledOutput(before.output, after.output, frozenset({"a.example"}))

    assert ["b1", "a1", "c1"] == chosen(both)


def test_bit_patterns_give_nothing_to_choose_by(tmp_path: Path) -> None:
    """An output without a confidence is refused in words."""
    with pytest.raises(InputError, match=r"no page has a confidence; extract it with --set label\.by=classifier"):
        chosen(output(tmp_path, Row(name="a1")))


def test_the_archives_of_a_site_are_listed(tmp_path: Path) -> None:
    """Each once, and a WACZ file by its own name."""
    found = output(tmp_path).output

    assert ["a.warc", "b.wacz", "c.warc"] == doubtful_pages.archives(found, {"a.example", "b.example"})
    assert ["c.warc"] == doubtful_pages.archives(found, {"b.example"})
