"""Run `dbce labels` from files to files."""

import json
from pathlib import Path

import fsspec
import pytest

from dbce_spark.annotation.markup import page_file, submission
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import Submission
from dbce_spark.commands import cli
from dbce_spark.evaluation import datasets
from tests.support.submissions import TAG_OF


def page(name: str) -> Sheet:
    text = f"Menu of {name}\nThe story of {name} is long.\nA caption"
    cuts = [0, *(at + 1 for at, one in enumerate(text) if one == "\n"), len(text) + 1]
    spans = [
        SegmentSpan(f"/html[1]/body[1]/p[{at + 1}]", start, cuts[at + 1] - 1) for at, start in enumerate(cuts[:-1])
    ]
    html = "".join(f"<p>{text[one.start : one.end]}</p>" for one in spans)
    return Sheet(page=name, html=html, text=text, segments=tuple(spans), url=f"http://{name}.example/")


def tagged(annotator: str, of: Sheet, tags: str, at: int) -> Submission:
    return Submission(
        annotator=annotator,
        page=of.page,
        submitted=at * 60_000_000,
        seconds=0.0,
        text_digest=of.text_digest,
        tags=tuple(TAG_OF[tag] for tag in tags),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two pages, the tags of three annotators for both, and those of one whose copy of a page was another one."""
    one, two = page("one"), page("two")
    page_file.write(str(tmp_path / "pages.jsonl"), [one, two])
    some = [
        tagged(name, of, tags, at)
        for at, of in enumerate((one, two))
        for name, tags in (("x", "bcu"), ("y", "bcb"), ("z", "bcu"))
    ]
    submission.write(str(tmp_path / "submissions.jsonl"), [*some, tagged("w", page("three"), "bcu", 9)])
    return tmp_path


def arguments(folder: Path, part: str) -> list[str]:
    inputs = [str(folder / "pages.jsonl"), "--submissions", str(folder / "submissions.jsonl")]
    return ["labels", part, *inputs, "--min-submissions", "3", "--output", str(folder / "out")]


def test_submissions_become_a_gold_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two commands make the gold set; a refused submission is listed with its reason."""
    output = folder / "out"
    assert cli.main(arguments(folder, "merge")) == 0
    export = ["--merged", str(output / "merged.jsonl"), "--output", str(folder / "gold.jsonl"), "--dataset", "own"]
    assert cli.main(["labels", "export", str(folder / "pages.jsonl"), *export]) == 0

    printed = capsys.readouterr().out
    refused = [json.loads(line) for line in (output / "refused.jsonl").read_text("utf-8").splitlines()]
    golds = [one.gold for one in datasets.read([str(folder / "gold.jsonl")]).sets["own"]]

    assert printed.startswith("6 submissions to 2 pages; 1 refused, 0 pages have too few")
    assert [(one["annotator"], one["reason"]) for one in refused] == [("w", "unknown_page")]
    assert golds == ["The story of one is long.", "The story of two is long."]


def test_agreement_is_written_page_by_page_and_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seven of each page's nine pairs agree; the report names the data of its plots."""
    assert cli.main(arguments(folder, "agreement")) == 0

    rows = [json.loads(line) for line in (folder / "out" / "agreement.jsonl").read_text("utf-8").splitlines()]
    report = (folder / "out" / "report.html").read_text("utf-8")

    assert [(one["page"], one["annotators"], round(one["observed"], 3)) for one in rows] == [
        ("one", 3, 0.778),
        ("two", 3, 0.778),
    ]
    assert capsys.readouterr().out.startswith("pi 0.654 (by words 0.790), the mean of 2 pages")
    assert all(title in report for title in ("Minutes on a page", "Pages with x submissions", "unknown_page"))


def test_a_page_without_an_agreement_is_not_counted_in_the_mean(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One to which all gave the same tag: nothing else could be expected of it."""
    one, two = page("one"), page("two")
    some = [
        tagged(name, of, tags, 1)
        for name in "xyz"
        for of, tags in ((one, "ccc"), (two, "bc" + "ubu"["xyz".index(name)]))
    ]
    submission.write(str(folder / "submissions.jsonl"), some)
    assert cli.main(arguments(folder, "agreement")) == 0

    assert capsys.readouterr().out.startswith("pi 0.654 (by words 0.790), the mean of 1 page;")


def test_too_few_submissions_are_an_error_that_says_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages with too few submissions raise an error instead of an empty gold set."""
    assert cli.main([*arguments(folder, "merge")[:-4], "--output", str(folder / "out")]) == 2

    assert "none of 2 pages has 5 submissions that count; see --min-submissions" in capsys.readouterr().err


def test_a_page_that_is_given_twice_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Submissions could fit either."""
    command, part, *rest = arguments(folder, "merge")
    assert cli.main([command, part, str(folder / "pages.jsonl"), *rest]) == 2

    assert "two pages have the id one; give each once" in capsys.readouterr().err


def test_who_is_excluded_by_hand_does_not_count(folder: Path) -> None:
    """The two annotators left differ on the caption, which is undecided."""
    assert cli.main([*arguments(folder, "merge"), "--min-submissions", "2", "--exclude", "z"]) == 0

    merged = [json.loads(line) for line in (folder / "out" / "merged.jsonl").read_text("utf-8").splitlines()]
    assert [(one["annotators"], one["tags"][2]) for one in merged] == [(["x", "y"], "undecided")] * 2


def test_two_labellings_are_shown_over_their_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One annotator and the majority differ on the captions, 4 of 22 words."""
    assert cli.main(arguments(folder, "merge")) == 0
    inputs = ["--reference", str(folder / "out" / "merged.jsonl"), "--given", str(folder / "submissions.jsonl@y")]
    assert cli.main(["labels", "diff", str(folder / "pages.jsonl"), *inputs, "--output", str(folder / "diff")]) == 0

    assert "2 pages, 18.2 % of 22 words differ" in capsys.readouterr().out
    assert "y beside merged" in (folder / "diff" / "index.html").read_text("utf-8")


def test_labels_are_merged_into_an_object_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of the name `memory:` is made for them."""
    monkeypatch.chdir(folder)
    for part in ("merge", "agreement"):
        assert cli.main([*arguments(folder, part)[:-1], "memory://labels/of-people"]) == 0

    names = {name.rpartition("/")[2] for name in fsspec.filesystem("memory").ls("/labels/of-people", detail=False)}
    assert {"merged.jsonl", "refused.jsonl", "agreement.jsonl", "report.html"} == names
    assert ["pages.jsonl", "submissions.jsonl"] == sorted(one.name for one in folder.iterdir())
