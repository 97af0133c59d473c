"""Choose crosses, keep them with all that the test cases need, and measure the cases on labels of people."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.annotation.labels.labels_settings import rules
from dbce_spark.annotation.markup import cross_tasks, page_file
from dbce_spark.annotation.markup.cross_tasks import CrossTask
from dbce_spark.commands import cli
from dbce_spark.errors import InputError
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.files import jsonl
from dbce_spark.model import Label
from reproductions import __main__ as reproductions
from reproductions.krdwrd.labelled_crosses import ALL, PUBLISHED, CrossOutcome, measure, pooled, rebuild_dom, report
from tests.support.builders import CONFIG, archive, http, record
from tests.support.builders import read as read_archive

NAMES = ("seal", "storm", "crane", "bell")
RULES = rules({})


def story(name: str, version: int) -> str:
    """Return a page of one template: a menu and a foot that all share, and paragraphs of its own."""
    paragraphs = "".join(
        f"<p>{' '.join(f'{name}{version if at == 2 else at}{word}' for word in range(9))}</p>" for at in range(4)
    )
    menu = "".join(f"<li><a href='/{other}'>About {other} and more</a></li>" for other in NAMES)
    foot = "<address><i>Printed by the harbour office, all rights reserved.</i></address>"
    return f"<html><body><ul>{menu}</ul><div><h1>All of {name}s</h1>{paragraphs}</div>{foot}</body></html>"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write an archive of four pages of one site, each captured in three years."""
    records = [
        record(http(story(name, year)), url=f"http://harbour.example/{name}.html", date=f"20{year}-01-01T00:00:00Z")
        for year in (10, 11, 12)
        for name in NAMES
    ]
    return archive(tmp_path_factory.mktemp("crawl") / "crawl.warc", *records)


@pytest.fixture(scope="module")
def found(crawl: str) -> list[CrossTask]:
    return list(cross_tasks.annotate_crosses(read_archive(crawl), CONFIG))


def truth(one: CrossTask) -> tuple[Label, ...]:
    """Return the labels that a person would give: a page's own words are content."""
    name = one.sheet.url.rsplit("/", 1)[1].removesuffix(".html")
    return tuple(Label.CONTENT if text.startswith((name, "All")) else Label.BOILERPLATE for text in one.sheet.texts)


def test_a_cross_is_cut_where_its_bits_change_and_has_its_neighbours_beside_it(found: list[CrossTask]) -> None:
    """A cross has segments for the menu, the heading, four paragraphs and the foot, and the neighbour of each arm."""
    whole = next(one for one in found if len(one.neighbours) == 4)
    one = whole.sheet

    assert one.page == whole.cross.cross_id
    assert one.texts[0] == "About seal and more"
    assert one.texts[-1] == "Printed by the harbour office, all rights reserved."
    assert {whole.neighbours["prev"].url, whole.neighbours["next"].url} == {one.url}
    assert one.url not in {whole.neighbours["up"].url, whole.neighbours["down"].url}
    assert whole.neighbours["prev"].date < one.date < whole.neighbours["next"].date


def test_two_urls_of_a_site_are_drawn_and_crosses_that_differ_in_arms(found: list[CrossTask]) -> None:
    """The fullest cross comes first, and the draw does not depend on the order of crosses."""
    chosen = cross_tasks.sample_tasks(found, RULES)
    arms = [(one.sheet.url, len(one.neighbours)) for one in chosen]

    assert len({url for url, _ in arms}) == 2
    assert [count for _, count in arms] == [4, 3, 4, 3]
    assert [one.sheet.page for one in cross_tasks.sample_tasks(reversed(found), RULES)] == [
        one.sheet.page for one in chosen
    ]


def test_a_cross_survives_a_file_and_is_a_page_to_label(found: list[CrossTask], tmp_path: Path) -> None:
    """A line is read as a cross and as a page, with the very elements that it was cut into."""
    path = str(tmp_path / "crosses.jsonl")
    cross_tasks.write(path, found[:3])
    again = list(cross_tasks.read(path))

    assert [one.sheet for one in again] == [one.sheet for one in found[:3]] == list(page_file.read(path))
    assert [one.cross for one in again] == [one.cross for one in found[:3]]
    assert [one.annotation.ends[-1] for one in again] == [len(rebuild_dom(one, CONFIG).token_ends) for one in again]


def test_a_cross_whose_page_is_another_one_is_refused(found: list[CrossTask], tmp_path: Path) -> None:
    """A cross whose bits would lie on other words is refused, and so is a line without bits."""
    changed = replace(found[0], sheet=replace(found[0].sheet, html="<p>Another page</p>"))
    with pytest.raises(InputError, match="write the crosses again"):
        rebuild_dom(changed, CONFIG)
    path = str(tmp_path / "pages.jsonl")
    page_file.write(path, [found[0].sheet])
    with pytest.raises(InputError, match=r"pages\.jsonl:1: cross must be an object"):
        list(cross_tasks.read(path))


def test_the_cases_are_measured_on_the_labels(found: list[CrossTask]) -> None:
    """T001 finds the words that the siblings lack; its undecided words count as boilerplate, which is all that T002
    adds."""
    chosen = cross_tasks.sample_tasks(found, RULES)
    labels = {one.sheet.page: truth(one) for one in chosen}

    outcomes = {one.case: one for one in pooled(measure(chosen, labels, CONFIG)) if one.site == ALL}

    assert list(outcomes) == ["T001", "T002", "T003", "T004", "T005", "T006"]
    assert {one.crosses for one in outcomes.values()} == {4}
    assert (outcomes["T001"].final.content.precision, outcomes["T002"].undecided) == (1.0, 0)
    assert outcomes["T001"].final.accuracy == outcomes["T002"].final.accuracy
    assert outcomes["T001"].decided.accuracy > outcomes["T001"].final.accuracy


def test_each_cross_has_its_counts_without_what_is_undecided(found: list[CrossTask]) -> None:
    """A row a cross and case, as in tables D.1 to D.4: undecided elements are left out of all but T002, and one that a
    person left undecided of every case."""
    chosen = cross_tasks.sample_tasks(found, RULES)
    labels = {one.sheet.page: (Label.UNDECIDED, *truth(one)[1:]) for one in chosen}
    measured = measure(chosen, labels, CONFIG)
    table = report(measured).split("### harbour.example")[1].splitlines()[4:]
    rows = [row.strip("| ").split(" | ") for row in table]

    assert [(one.sheet.page, case) for one in chosen for case in PUBLISHED] == [(row[0], row[2]) for row in rows]
    first = next(one for one in measured if one.case == "T001")
    assert [f"{first.decided.tp}", f"{first.decided.tn}"] == [rows[0][3], rows[0][6]]
    assert first.final.nodes == first.elements - 1
    assert first.final.nodes - first.decided.nodes > 0
    assert {len(truth(chosen[0])) - 1} == {sum(map(int, row[3:7])) for row in rows if row[:3:2] == [rows[0][0], "T002"]}


def test_the_row_of_a_cross_has_precision_and_recall_by_its_counts() -> None:
    """Each under its own name: all of them were F1."""
    counts = Confusion(tp=1, fn=1, fp=2, tn=6)
    one = CrossOutcome(case="T001", site="s.example", cross="c", arms=2, elements=10, final=counts, decided=counts)
    *_, row = report([one]).splitlines()

    assert "| c | 2 | T001 | 1 | 1 | 2 | 6 | 0.700 | 0.857 | 0.333 | 0.750 | 0.500 | 0.800 | 0.400 |" == row


def test_the_published_counts_give_table_4_2() -> None:
    """The sums of tables D.1 to D.4 are the percentages that table 4.2 prints."""
    printed = {
        "T001": (88.3, 59, 91.8, 98.2, 87.7),
        "T002": (89.9, 59, 90.9, 98.4, 89.7),
        "T006": (89.6, 63, 86.1, 97.1, 90.2),
    }
    for case, figures in printed.items():
        counts = PUBLISHED[case]
        content, boilerplate = counts.content, counts.boilerplate
        found = (counts.accuracy, content.precision, content.recall, boilerplate.precision, boilerplate.recall)
        assert figures == pytest.approx([100 * one for one in found], abs=0.06)
    assert Confusion(411, 538, 521, 4392) == PUBLISHED["T003"]


def test_crosses_without_labels_are_no_measure(found: list[CrossTask]) -> None:
    """Crosses without labels, or with labels of other segments, are refused."""
    with pytest.raises(InputError, match="no cross has labels"):
        measure(found, {}, CONFIG)
    with pytest.raises(InputError, match="1 labels of"):
        measure(found, {found[0].sheet.page: (Label.CONTENT,)}, CONFIG)


def test_from_an_archive_to_the_table_of_the_thesis(
    crawl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two commands, with labels between them, write the table with the published figures beside it."""
    path, labels = str(tmp_path / "crosses.jsonl.gz"), str(tmp_path / "labels.jsonl")
    assert cli.main(["labels", "crosses", crawl, "--output", path, "--urls-per-site", "1"]) == 0
    tagged = ((one.sheet.page, truth(one)) for one in cross_tasks.read(path))
    jsonl.write(labels, ({"page": page, "tags": [tag.word for tag in tags]} for page, tags in tagged))
    assert (
        reproductions.main(["labelled-crosses", path, "--labels", labels, "--output", str(tmp_path / "thesis.md")]) == 0
    )

    table = (tmp_path / "thesis.md").read_text("utf-8")
    assert "2 crosses of 1 site with" in capsys.readouterr().out
    assert "| harbour.example | T006 | 2 |" in table
    assert "| *thesis* | T001 | 16 | 5,862 |  | 0.883 | 0.590 | 0.918 |" in table
    assert "| *thesis* | T004 | 16 | 5,862 |  | 0.865 |" in table
    assert "| *thesis* | 16 | 6,855 | over 98 % | 958 | 5,897 | 4.82 |" in table
