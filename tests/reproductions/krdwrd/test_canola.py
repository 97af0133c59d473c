"""KrdWrd's votes on its corpus canola: read, and merged to its gold tags."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from dbce_spark.annotation.labels import agreement
from dbce_spark.annotation.labels.annotators import biases, exclusions
from dbce_spark.annotation.labels.labels_settings import rules
from dbce_spark.annotation.labels.majority import RefusalReason, merge
from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.model import Label
from reproductions.krdwrd import canola as krdwrd
from reproductions.krdwrd.canola import Votes
from reproductions.thesis.truth import counts, text_node_labels

TABLE = """# submitted : 2
# tokens\tmerged\t9\t10
3\tkrdwrd-tag-3-100\tkrdwrd-tag-3\tkrdwrd-tag-3
1\tkrdwrd-tag-mrgtie-50\tkrdwrd-tag-1\tkrdwrd-tag-2
undefined\tundefined\tundefined\tnull
"""


def written(folder: Path, table: str) -> str:
    (folder / "plan.canola").write_text("7\n", encoding="utf-8")
    (folder / "7.stats").write_text(table, encoding="utf-8")
    return str(folder)


def test_a_table_is_read_as_submissions(tmp_path: Path) -> None:
    """A row that an annotator's copy lacked is not in the submission."""
    page = next(krdwrd.read(written(tmp_path, TABLE)))

    assert [(one.annotator, one.tags) for one in page.submissions] == [
        ("9", (Label.CONTENT, Label.BOILERPLATE, None)),
        ("10", (Label.CONTENT, Label.UNDECIDED)),
    ]
    assert (page.words, page.merged) == ((3, 1, 0), (Label.CONTENT, Label.UNDECIDED, Label.UNDECIDED))


def test_a_table_that_lacks_a_column_is_named(tmp_path: Path) -> None:
    """With the line in which it is missing."""
    with pytest.raises(InputError, match=r"7\.stats:4: "):
        list(krdwrd.read(written(tmp_path, TABLE.replace("\tkrdwrd-tag-2", ""))))


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("\tkrdwrd-tag-3\n", "\n", r"7\.stats:3: not 4 columns but 3"),
        ("1\tkrdwrd", "one\tkrdwrd", r"7\.stats:4: 'one' is no number of words"),
        (TABLE, "# submitted : 2\n", r"7\.stats: is no table of votes"),
        (TABLE, "a\nb\n", r"7\.stats: is no table of votes"),
    ],
    ids=["first row short", "no number", "no rows", "no columns"],
)
def test_a_table_of_another_kind_is_named(tmp_path: Path, before: str, after: str, place: str) -> None:
    """With the line that shows it, be it the first."""
    with pytest.raises(InputError, match=place):
        list(krdwrd.read(written(tmp_path, TABLE.replace(before, after))))


def test_votes_that_are_not_there_are_required(tmp_path: Path) -> None:
    """The error says what to do."""
    with pytest.raises(InputError, match="unpack KrdWrd's votes there"):
        list(krdwrd.read(str(tmp_path)))


@pytest.fixture(scope="module")
def canola(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Votes]:
    folder = tmp_path_factory.mktemp("votes")
    with tarfile.open(shared_data / "gold" / "canola-votes.tar.xz") as archive:
        # Python before 3.11.4 has no such filter, and Python 3.12 warns of an archive without one.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    return list(krdwrd.read(str(folder / "canola-votes")))


@pytest.mark.data
def test_the_merge_is_that_of_krdwrd(canola: list[Votes]) -> None:
    """All 45,711 tags of 208 pages, when the submissions are refused whose copies lacked nodes."""
    found = merge(
        {one.page: one.master for one in canola},
        (submission for one in canola for submission in one.submissions),
        minimum=1,
        excluded={},
    )

    assert {one.page: one.tags for one in found.pages} == {one.page: one.merged for one in canola}
    assert {one.reason for one in found.refused} == {RefusalReason.NODES_MISSING}
    assert (len(found.accepted), len(found.refused), sum(len(one.tags) for one in found.pages)) == (1513, 9, 45711)


@pytest.mark.data
def test_the_agreement_of_canola_is_the_published_one(canola: list[Votes]) -> None:
    """.86 of pairs agree, the published multi-pi; more than half of that is to be expected by chance."""
    corpus = {one.page: one for one in canola}
    found = merge(
        {one.page: one.master for one in canola},
        (submission for one in canola for submission in one.submissions),
        minimum=rules({}).minimum_submissions,
        excluded={},
    )
    agreed = agreement.measure_corpus([(one, corpus[one.page].words) for one in found.pages])
    observed = sum(one.by_segments.observed for one in agreed.pages) / len(agreed.pages)

    assert (len(agreed.pages), round(observed, 2), round(agreed.mean, 2)) == (206, 0.86, 0.61)


@pytest.mark.data
def test_few_of_the_annotators_that_krdwrd_kept_would_be_excluded(canola: list[Votes]) -> None:
    """Three of 64, one of them with a bias of .31: KrdWrd had excluded four others before."""
    found = merge(
        {one.page: one.master for one in canola},
        (submission for one in canola for submission in one.submissions),
        minimum=5,
        excluded={},
    )

    assert (len(biases(found)), sorted(exclusions(found, rules({})))) == (64, ["17", "40", "59"])


def test_the_text_nodes_of_an_annotated_page_have_the_tag_around_them(tmp_path: Path) -> None:
    """The innermost counts; what is not read is no segment, and comments tear no element apart."""
    html = (
        '<head><title>T</title></head><body class="krdwrd-tag-1">menu<p class="krdwrd-tag-3">one <b>two</b><!-- c -->'
        ' three</p><script>x</script> end<p class="krdwrd-tag-undefined">?</p></body>'
    )
    path = tmp_path / "canola.jsonl"
    path.write_text(json.dumps({"id": "7", "html_annotated": html}), encoding="utf-8")

    sheet, tags = next(krdwrd.pages(str(path)))

    content, bad = Label.CONTENT, Label.BOILERPLATE
    assert list(zip(sheet.texts, tags, strict=True)) == [
        ("menu", bad), ("one", content), ("two", content), ("three", content), ("end", bad), ("?", None),
    ]  # fmt: skip
    assert [one.xpath.rsplit("/", 1)[1] for one in sheet.segments] == ["body", "p[1]", "b", "p[1]", "body", "p[2]"]


@pytest.mark.data
def test_the_gold_tags_are_those_of_the_merge(canola: list[Votes], shared_data: Path) -> None:
    """They agree on pages with as many text nodes, undecided ones aside: ties were broken later, and a few tags of a
    bare majority revised."""
    by_page = {one.page: one for one in canola}
    same = pages = nodes = 0
    for sheet, tags in krdwrd.pages(str(shared_data / "gold" / "canola.jsonl.xz")):
        votes = by_page[sheet.page]
        merged_tags = [merged for merged, words in zip(votes.merged, votes.words, strict=True) if words]
        if len(merged_tags) == len(tags):
            pages += 1
            decided = [
                pair
                for pair in zip(merged_tags, tags, strict=True)
                if Label.UNDECIDED not in pair and pair[1] is not None
            ]
            nodes += len(decided)
            same += sum(merged == tag for merged, tag in decided)

    assert pages == 144
    assert (nodes > 20_000, round(same / nodes, 3)) == (True, 0.996)


@pytest.mark.data
def test_gold_texts_label_nodes_as_people_voted(canola: list[Votes], shared_data: Path) -> None:
    """98 of 100 nodes, on the pages with as many leaves as votes; the gold lacks most of the others."""
    pages = datasets.read([str(shared_data / "gold" / "canola.jsonl.xz")]).sets["canola"]
    voted = {
        one.page: np.array([tag for tag, words in zip(one.merged, one.words, strict=True) if words], np.uint8)
        for one in canola
    }
    counted = []
    for page in pages:
        labels, truth = text_node_labels(page.html, page.gold), voted[page.page_id]
        if len(labels) == len(truth):
            counted.append(counts(labels, np.where(labels == Label.UNDECIDED, Label.UNDECIDED, truth)))
    total = sum(counted, Confusion())

    assert len(counted) > 0.7 * len(pages)
    assert total.accuracy > 0.98
    assert min(total.content.f1, total.boilerplate.f1) > 0.97
