"""The diff of any two labellings of the same pages."""

from pathlib import Path

import pytest

from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.commands import cli
from dbce_spark.files import jsonl

STORY = "The story of it is long and has many words"
HTML = f"<body><div>Menu of <b>all</b> things</div><p>{STORY}</p><p>A caption below</p></body>"
TEXT = f"Menu of all things\n{STORY}\nA caption below"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a page with segments, the same as gold, labels of a person, and an extractor's text, which is all of it."""
    ends = [18, 19 + len(STORY), len(TEXT)]
    spans = tuple(map(SegmentSpan, ("/a[1]",) * 3, (0, 19, ends[1] + 1), ends))
    page_file.write(str(tmp_path / "pages.jsonl"), [Sheet(page="one", html=HTML, text=TEXT, segments=spans)])
    gold = {"id": "one", "dataset": "own", "html": HTML, "gold": STORY, "url": "http://a.example/"}
    jsonl.write(str(tmp_path / "gold.jsonl"), [gold])
    labels = {"page": "one", "tags": ["boilerplate", "content", "undecided"]}
    jsonl.write(str(tmp_path / "merged.jsonl"), [labels])
    command = ["evaluate", str(tmp_path / "gold.jsonl"), "--extractors", "lxml", "--contrasts", "0"]
    assert cli.main([*command, "--output", str(tmp_path / "scores")]) == 0
    return tmp_path


def printed(folder: Path, pages: str, reference: str, given: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    command = ["labels", "diff", str(folder / pages), "--reference", reference, "--given", given]
    assert cli.main([*command, "--output", str(folder / "diff")]) == 0
    return capsys.readouterr().out.splitlines()[0]


def test_people_gold_and_extractors_are_set_beside_each_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each can be on either side; of the 17 words people call ten content, four boilerplate and three undecided."""
    people, everything = str(folder / "merged.jsonl"), f"{folder / 'scores'}@lxml"
    sides = [
        ("pages.jsonl", people, everything),
        ("pages.jsonl", everything, people),
        ("gold.jsonl", "gold", everything),
        ("gold.jsonl", everything, "gold"),
        ("gold.jsonl", everything, everything),
    ]

    shares = [printed(folder, *side, capsys).split(",")[1].split("%")[0] for side in sides]
    assert [41.2, 41.2, 41.2, 41.2, 0.0] == [float(share) for share in shares]
    assert "lxml beside lxml" in (folder / "diff" / "index.html").read_text("utf-8")


def test_what_differs_on_a_gold_page_is_shown_in_the_colours_of_both(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is cut at its text nodes; the menu is boilerplate to the gold, and content to the extractor."""
    printed(folder, "gold.jsonl", "gold", f"{folder / 'scores'}@lxml", capsys)
    (page,) = (one for one in (folder / "diff").iterdir() if one.name != "index.html")

    assert "dbce-differ-boilerplate dbce-gave-content" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("pages", "given", "error"),
    [
        ("gold.jsonl", "scores@nobody", "no texts of nobody; give"),
        ("pages.jsonl", "gold", "no page has labels of both"),
        ("gold.jsonl", "merged.jsonl", "give labels of these pages"),
    ],
)
def test_labels_that_are_not_there_are_said_so(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pages: str,
    given: str,
    error: str,
) -> None:
    """The error is one line, and names what to do."""
    monkeypatch.chdir(folder)
    command = ["labels", "diff", pages, "--reference", "scores@lxml", "--given", given, "--output", "diff"]

    assert cli.main(command) == 2
    assert error in capsys.readouterr().err
