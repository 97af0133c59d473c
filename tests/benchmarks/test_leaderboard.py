"""The leaderboard, from made results to the page."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lxml import etree

from benchmarks.__main__ import main
from benchmarks.leaderboard import evaluations, phrases
from dbce_spark.commands.cli import main as main_of_dbce
from dbce_spark.errors import InputError
from dbce_spark.evaluation import evaluation_job, extracted_texts
from dbce_spark.evaluation.scoring import facts, scores
from dbce_spark.files import parquet
from tests.support.fake_extractors import line

Parts = tuple[float, float, float]


def evaluated(
    folder: Path,
    of_extractors: Mapping[str, Mapping[str, Parts]],
    dataset: str = "made",
    page_type: str = "article",
    **description: Any,
) -> str:
    """Results as `dbce evaluate` leaves them: precision, recall, F1 by extractor and page; a page's id is its site."""
    pages = [*dict.fromkeys(page for scored in of_extractors.values() for page in scored)]
    names = {"dataset": dataset, "group": "", "lang": "", "page_type": page_type, "era": "", "error": ""}
    common = {**names, "siblings": 0, "snapshots": 0, "seconds": 0.002}
    score_rows = [
        {
            **common,
            "page_id": page,
            "site": page,
            "extractor": name,
            "metric": metric,
            "precision": p,
            "recall": r,
            "f1": f1,
        }
        for name, scored in of_extractors.items()
        for page, (p, r, f1) in scored.items()
        for metric in ("rouge_l", evaluations.METRIC, "bag_of_words")
    ]
    facts_rows = [{**common, "page_id": page, "site": page, "complexity": 0.5, "tags": []} for page in pages]
    text_rows = [
        {
            **common,
            "page_id": page,
            "extractor": name,
            "version": "" if name.startswith("dbce") else "peer 1.0, abc",
            "text": "",
        }
        for name, scored in of_extractors.items()
        for page in scored
    ]
    for name, schema, rows in (
        ("scores.parquet", scores.SCHEMA, score_rows),
        ("pages.parquet", facts.SCHEMA, facts_rows),
        (extracted_texts.NAME, extracted_texts.SCHEMA, text_rows),
    ):
        parquet.write(f"{folder}/{name}", schema, [pa.RecordBatch.from_pylist(rows, schema)])
    described = {"date": "2026-11-25", "files": [f"{dataset}.jsonl"], "extractors": [*of_extractors], **description}
    written = {"folds": "", "sample": None, "limit": None, **described}
    (folder / evaluation_job.DESCRIPTION).write_text(json.dumps(written))
    return str(folder)


def page_of(tmp_path: Path, *arguments: str) -> str:
    """Write a leaderboard of the runs in a folder."""
    assert 0 == main(["leaderboard", *arguments, "--output", str(tmp_path / "board.md")])
    return (tmp_path / "board.md").read_text(encoding="utf-8")


def rows_below(page: str, title: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = [one.strip("| ").split(" | ") for one in section.splitlines() if one.startswith("|")]
    return [found[0], *found[2:]]


DBCE = {"a": (1.0, 0.5, 0.75), "b": (1.0, 1.0, 1.0)}
PEER = {"a": (0.5, 0.5, 0.5), "b": (0.5, 0.25, 0.25)}


def test_the_board_has_the_means_of_both_parts(tmp_path: Path) -> None:
    """Each extractor once, the best of whole pages first, with F1, precision and recall of each part, and its time."""
    evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER})
    evaluated(tmp_path / "run/articles", {"peer": PEER, "dbce": {"a": (0.0, 0.0, 0.0), "b": (0.0, 0.0, 0.0)}})
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert [
        ["extractor", "whole: F1", "P", "R", "articles: F1", "P", "R", "CPU ms"],
        ["dbce", "**0.875** (0.750-1.000)", "1.000", "0.750", "0.000 (0.000-0.000)", "0.000", "0.000", "2.0"],
        ["peer", "0.375 (0.250-0.500)", "0.500", "0.375", "**0.375** (0.250-0.500)", "0.500", "0.375", "2.0"],
    ] == rows_below(page, "All sets together")
    assert [
        ["extractor", "made (2)"],
        ["peer", "**0.375** (0.250-0.500)"],
        ["dbce", "0.000 (0.000-0.000)"],
    ] == rows_below(page, "Articles, by set")
    assert "dbce (0.875) less the best of others, peer (0.375), is +0.500" in " ".join(page.split())
    assert "peer of peer 1.0." in page


def test_a_set_with_a_measure_of_its_own_is_shown_by_it(tmp_path: Path) -> None:
    """By types of its pages, beside what its makers published; other sets have none."""
    evaluated(tmp_path / "run/articles", {"dbce": DBCE, "peer": PEER}, "wcxb")
    page = page_of(tmp_path, str(tmp_path / "run"))
    evaluated(tmp_path / "other/articles", {"dbce": DBCE, "peer": PEER})

    assert [
        ["extractor", "all (2)", "other (2)"],
        ["dbce", "**0.875** (0.750-1.000)", "**0.875** (0.750-1.000)"],
        ["peer", "0.375 (0.250-0.500)", "0.375 (0.250-0.500)"],
    ] == rows_below(page, "wcxb by its own measure")
    assert "rs-trafilatura .859" in page
    assert "by its own measure" not in page_of(tmp_path, str(tmp_path / "other"))


@pytest.mark.parametrize("content", [b"", b"no Parquet"])
def test_results_that_are_no_parquet_are_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a line that names their folder, as a folder without results."""
    whole = Path(evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER}))
    (whole / "scores.parquet").write_bytes(content)

    assert 2 == main(["leaderboard", str(tmp_path / "run"), "--output", str(tmp_path / "board.md")])
    assert f"{whole} is no folder that `dbce evaluate` wrote: " in capsys.readouterr().err


def test_pages_without_a_type_are_no_rare_type(tmp_path: Path) -> None:
    """They have a column of their own, as in the report of `dbce evaluate`."""
    evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER}, page_type="")
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert ["extractor", "not known (2)"] == rows_below(page, "Whole pages, by type")[0]


def test_a_plot_has_a_dot_of_each_extractor(tmp_path: Path) -> None:
    """With its figures as a title, and its name where there is room: of two in one place the first alone has one."""
    same = dict.fromkeys(("dbce", "peer", "a-third", "a-fourth"), DBCE)
    evaluated(tmp_path / "run/whole", {**same, "last": PEER})
    page = page_of(tmp_path, str(tmp_path / "run"))
    root = etree.parse(str(tmp_path / "board.svg")).getroot()
    names = {one.text for one in root.iter("{*}text")} & {*same, "last"}

    assert "(board.svg)" in page
    assert [*(f"{name}: 0.875, 2.0 ms" for name in same), "last: 0.375, 2.0 ms"] == [
        one.findtext("{*}title") for one in root.iter("{*}circle")
    ]
    assert "last" in names
    assert 1 <= len(names - {"last"}) <= 2


def test_what_is_run_again_takes_the_place_of_what_was(tmp_path: Path) -> None:
    """Of a later folder; what it has not run stays, and pages that one of them has not seen are left out."""
    evaluated(tmp_path / "old/whole", {"dbce": {**DBCE, "c": (0.0, 0.0, 0.0)}, "peer": PEER})
    evaluated(tmp_path / "new/whole", {"dbce": {**PEER, "c": (1.0, 1.0, 1.0)}})
    page = page_of(tmp_path, str(tmp_path / "old"), str(tmp_path / "new"))

    assert [
        ["extractor", "made (2)"],
        ["dbce", "**0.375** (0.250-0.500)"],
        ["peer", "**0.375** (0.250-0.500)"],
    ] == rows_below(page, "Whole pages, by set")
    assert 2 == len(rows_below(page, "How it was made")) - 1


def test_pages_with_two_golds_are_set_side_by_side(tmp_path: Path) -> None:
    """Pages of a set that are in the set of its name and -read too, and the place that each extractor has by each."""
    evaluated(
        tmp_path / "run/articles", {"dbce": {**PEER, "x": (1.0, 1.0, 1.0)}, "peer": {**DBCE, "x": (0.0, 0.0, 0.0)}}
    )
    evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER}, "made-read")
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert [
        ["extractor", "by the set", "place", "by a reader", "place"],
        ["dbce", "0.375", "2", "**0.875**", "1"],
        ["peer", "**0.875**", "1", "0.375", "2"],
    ] == rows_below(page, "The same pages by two golds")


def test_sentences_say_who_wins_and_where_golds_disagree(tmp_path: Path) -> None:
    """The first of all and of others, the types of pages that each is best on, and the furthest moves between ranks."""
    scored = {
        name: {"a": (f1, f1, f1), "b": (f1, f1, f1)} for name, f1 in {"dbce": 0.9, "p": 0.8, "q": 0.7, "r": 0.6}.items()
    }
    evaluated(tmp_path / "run/whole", scored)
    evaluated(
        tmp_path / "run/articles",
        {"dbce-article": scored["q"], "p": scored["r"], "q": scored["p"], "r": scored["dbce"]},
    )
    found = " ".join(page_of(tmp_path, str(tmp_path / "run")).partition("\n## All sets")[0].split())

    for sentence in (
        "**On 2 pages that readers labelled whole** dbce is first with F1 0.900.",
        "dbce (0.900) less the best of others, p (0.800), is +0.100 (+0.100 to +0.100).",
        "**On 2 pages by the gold of sets of articles** r is first with F1 0.900.",
        "dbce-article (0.700) less the best of others, r (0.900), is -0.200 (-0.200 to -0.200).",
        "**By type** dbce is ahead of the best of others on other (0.900; p 0.800).",
        "rank the 3 extractors of others alike to -1.00",
        "r is number 1 by articles and number 3 by whole pages.",
        "p is number 3 by articles and number 1 by whole pages.",
    ):
        assert sentence in found


def test_only_extractors_that_move_are_said_to(tmp_path: Path) -> None:
    """There is no example of a disagreement if both golds rank all of them alike."""
    scored = {name: {"a": (f1, f1, f1)} for name, f1 in {"dbce": 0.9, "p": 0.8, "q": 0.7, "r": 0.6}.items()}
    for part in ("whole", "articles"):
        evaluated(tmp_path / "run" / part, scored)
    found = page_of(tmp_path, str(tmp_path / "run"))

    assert "alike to 1.00" in found
    assert "is number" not in found


def test_the_commands_that_made_it_stand_below(tmp_path: Path) -> None:
    """Each names files, extractors and sample, beside its date and the digest of its folds."""
    evaluated(tmp_path / "peers/articles", {"peer": PEER}, sample=150, extractors=["peers"])
    evaluated(tmp_path / "own/articles", {"dbce": DBCE, "dbce-article": DBCE}, folds="0123456789ab")
    page = page_of(tmp_path, str(tmp_path / "peers"), str(tmp_path / "own"))
    commands = ("peers --sample-size 150", "dbce,dbce-article --folds folds")

    assert [
        ["articles", "2026-11-25", folds, f"`dbce evaluate made.jsonl --extractors {options}`"]
        for folds, options in zip(("", "0123456789ab"), commands, strict=True)
    ] == rows_below(page, "How it was made")[1:]
    assert 'PHRASES="PHRASES/*.jsonl.xz" FOLDS=folds PEER_PAGES=150\n```' in page


def test_our_methods_alone_have_a_board(tmp_path: Path) -> None:
    """There is nobody to compare them with."""
    for part in ("whole", "articles"):
        evaluated(tmp_path / "own" / part, {"dbce": DBCE, "dbce-article": PEER})
    found = page_of(tmp_path, str(tmp_path / "own")).partition("## Who wins where\n")[2].partition("\n## ")[0]

    assert [
        "**On 2 pages that readers labelled whole** dbce is first with F1 0.875.",
        "**On 2 pages by the gold of sets of articles** dbce is first with F1 0.875.",
    ] == [one for one in found.splitlines() if one]


def test_extractors_without_a_page_in_common_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Samples may be of other pages; there is nothing to compare then."""
    folder = evaluated(tmp_path / "run/whole", {"dbce": {"a": DBCE["a"]}, "peer": {"b": PEER["b"]}})

    assert 2 == main(["leaderboard", str(tmp_path / "run"), "--output", str(tmp_path / "board.md")])
    assert f"{folder}: no page has scores of dbce, peer; run all of them on the same pages" in capsys.readouterr().err


def test_an_extractor_that_lacks_a_set_is_named(tmp_path: Path) -> None:
    """Its mean would be of other pages."""
    evaluated(tmp_path / "one", {"dbce": DBCE, "peer": PEER})
    evaluated(tmp_path / "two", {"dbce": DBCE}, "other")
    with pytest.raises(InputError, match="peer was not run on other"):
        evaluations.read([str(tmp_path / "one"), str(tmp_path / "two")])


@pytest.mark.parametrize("folder", ["none", "run"])
def test_folders_without_results_are_named(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line."""
    (tmp_path / "run/whole").mkdir(parents=True)

    assert 2 == main(["leaderboard", str(tmp_path / folder), "--output", str(tmp_path / "board.md")])
    assert re.search("no folder", capsys.readouterr().err)


PHRASES = {
    "id": "a",
    "url": "http://a.example/",
    "date": "",
    "type": "table",
    "html": "<p>",
    "must": ["The old harbour", "港口"],
    "must_not": ["Sign in", "Menu"],
    "rows": [["Ship", "1900"], ["Boat", "1901"]],
}


def written(folder: Path, *lines: Mapping[str, Any], name: str = "crawls.jsonl") -> str:
    """A file of phrases, or of gold pages."""
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the OLD\nharbour, 老港口. Ship: 1900", phrases.PhraseScore(1.0, 1.0, 1.0, 0.5, 0.0)),
        ("The old harbours. Design in. Menu. Boat 1902, 1900", phrases.PhraseScore(0.0, 0.5, 0.0, 0.0, 1.0)),
        ("", phrases.PhraseScore(0.0, 1.0, 0.0, 0.0, 0.0)),
    ],
    ids=["good", "words", "nothing"],
)
def test_phrases_are_compared_by_words(text: str, expected: phrases.PhraseScore, tmp_path: Path) -> None:
    """Of whole words in Latin letters, and of letters elsewhere; case, lines and punctuation mean nothing."""
    assert expected == phrases.score(phrases.read(written(tmp_path, PHRASES)), {"a": text})


def test_trafilatura_counts_phrases_letter_by_letter(tmp_path: Path) -> None:
    """One of two is found, and one of the two that must not be: all shares are a half."""
    pages = phrases.read(written(tmp_path, PHRASES))

    assert phrases.VerbatimScore(0.5, 0.5, 0.5, 0.5) == phrases.verbatim(pages, {"a": "the old harbour, 港口. Menu"})


def test_texts_are_scored_beside_those_of_another_reader(tmp_path: Path) -> None:
    """From the pages that `phrase-pages` writes, to the table; a date that is none is none."""
    file = written(
        tmp_path, PHRASES, {**PHRASES, "id": "none", "must": [], "rows": [], "date": "2008-10-294T05:21:46-0700"}
    )
    assert 0 == main(["phrase-pages", file, "--output", str(tmp_path / "pages.jsonl")])
    folder = str(tmp_path / "run/phrases")
    assert 0 == main_of_dbce(["evaluate", str(tmp_path / "pages.jsonl"), "--extractors", "lxml", "--output", folder])
    gold = written(tmp_path, line("a", gold="The old harbour 港口 Ship 1900 Boat", dataset="crawls"), name="gold.jsonl")
    page = page_of(tmp_path, str(tmp_path / "run"), "--phrases", file, "--readers", gold)

    assert [
        ["extractor", "must", "must not", "good", "rows", "torn", "P", "R", "F1", "accuracy"],
        ["second reader", "1.000", "1.000", "1.000", "0.500", "0.500", "1.000", "1.000", "1.000", "1.000"],
        ["lxml", "0.000", "1.000", "0.500", "0.000", "0.000", "0.000", "0.000", "0.000", "0.667"],
    ] == rows_below(page, "Phrases of crawls")
