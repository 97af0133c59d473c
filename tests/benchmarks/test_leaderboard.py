"""The leaderboard, from made results to the page."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pytest
from lxml import etree

from benchmarks.__main__ import main
from benchmarks.leaderboard import evaluations, phrases
from dbce_spark.commands.cli import main as main_of_dbce
from dbce_spark.errors import InputError
from dbce_spark.evaluation import evaluation_job, extracted_texts
from dbce_spark.evaluation.scoring import clusters, facts, scores
from dbce_spark.files import parquet
from tests.support.code_blocks import ROOT
from tests.support.fake_extractors import line

Parts = tuple[float, float, float]


def tags(most: str) -> list[float]:
    """Shares of the tags of a page that has this one alone."""
    return [float(tag == most) for tag in clusters.TAGS]


def evaluated(
    folder: Path,
    of_extractors: Mapping[str, Mapping[str, Parts]],
    dataset: str = "made",
    known: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    **description: Any,
) -> str:
    """Results as `dbce evaluate` leaves them: precision, recall, F1 by extractor and page; a page's id is its site.

    `known` are the facts of some pages, in place of those that all have.
    """
    pages = [*dict.fromkeys(page for scored in of_extractors.values() for page in scored)]
    names = {"dataset": dataset, "group": "", "lang": "", "page_type": "article", "era": "", "error": ""}
    common = {
        **names,
        "siblings": 0,
        "snapshots": 0,
        "seconds": 0.002,
        "gold_error": 0.0,
        "complexity": 0.5,
        "tags": tags("p"),
    }
    score_rows = [
        {
            **common,
            **known.get(page, {}),
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
        for metric in ("rouge_l", evaluations.METRIC, "bag_of_words", "levenshtein")
    ]
    facts_rows = [{**common, **known.get(page, {}), "page_id": page, "site": page} for page in pages]
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
    described = {"date": "2026-11-25", "files": [f"{dataset}.jsonl"], "extractors": [*of_extractors]}
    of_sets = {"pages": {dataset: len(pages)}, "digests": {dataset: f"digest of {','.join(pages)}"}}
    written = {"folds": "", "sample": None, "limit": None, **described, **of_sets, **description}
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
    """Each extractor once, the best of whole pages first, with F1, precision and recall of each part, and its time.

    Of less than six pages there is no p.
    """
    evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER})
    evaluated(tmp_path / "run/articles", {"peer": PEER, "dbce": {"a": (0.0, 0.0, 0.0), "b": (0.0, 0.0, 0.0)}})
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert [
        [
            "extractor",
            *("whole: F1", "P", "R", "less dbce", "p"),
            *("articles: F1", "P", "R", "less dbce", "p"),
            "CPU ms",
        ],
        [
            "dbce",
            *("**0.875** (0.750-1.000)", "1.000", "0.750", "", ""),
            *("0.000 (0.000-0.000)", "0.000", "0.000", "", "", "2.0"),
        ],
        [
            "peer",
            *("0.375 (0.250-0.500)", "0.500", "0.375", "-0.500 (-0.750 to -0.250)", ""),
            *("**0.375** (0.250-0.500)", "0.500", "0.375", "+0.375 (+0.250 to +0.500)", "", "2.0"),
        ],
    ] == rows_below(page, "All sets together")
    assert [
        ["extractor", "made (2)"],
        ["peer", "**0.375** (0.250-0.500)<br>P 0.500, R 0.375"],
        ["dbce", "0.000 (0.000-0.000)<br>P 0.000, R 0.000"],
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
        ["dbce", *["**0.875** (0.750-1.000)<br>P 1.000, R 0.750"] * 2],
        ["peer", *["0.375 (0.250-0.500)<br>P 0.500, R 0.375"] * 2],
    ] == rows_below(page, "wcxb by its own measure")
    for published in (
        "publishes for the 1,497 pages",
        "rs-trafilatura .859",
        ".808 on forums and .641 on products",
        ".893",
    ):
        assert published in " ".join(page.split())
    assert "by its own measure" not in page_of(tmp_path, str(tmp_path / "other"))


def of_many(*f1: float) -> dict[str, Parts]:
    """Scores of a page each, named by their places."""
    return {f"{at}": (one, one, one) for at, one in enumerate(f1)}


def test_each_extractor_is_tested_against_ours(tmp_path: Path) -> None:
    """Paired: one that is a little worse on each page is so for certain; one that is better on some of them is not."""
    ours = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
    scored = {
        "worse": of_many(*(one - 0.1 for one in ours)),
        "dbce": of_many(*ours),
        "other": of_many(*(one + (0.1, -0.1)[at % 2] for at, one in enumerate(ours))),
    }
    evaluated(tmp_path / "run/whole", scored)
    evaluated(tmp_path / "run/articles", {"worse": scored["worse"]})
    page = page_of(tmp_path, str(tmp_path / "run"))
    rows = {row[0]: row[4:6] for row in rows_below(page, "All sets together")}

    assert ["", ""] == rows["dbce"]
    assert ["-0.100 (-0.100 to -0.100)", "0.001"] == rows["worse"]
    assert re.fullmatch(r"[+-]0\.000 \(-0\.\d+ to \+0\.\d+\)", rows["other"][0])
    assert 0.5 < float(rows["other"][1]) <= 1
    assert 10 == len(rows_below(page, "All sets together")[0]), "there is nothing to compare articles with"


@pytest.mark.parametrize(("part", "title"), [("whole", "Whole pages"), ("articles", "Articles")])
def test_pages_are_told_apart_by_language_cluster_and_siblings(part: str, title: str, tmp_path: Path) -> None:
    """Rare languages together, clusters by what they are made of, siblings in three steps; weights are those of all."""
    pages = [f"{at}" for at in range(24)]
    known = {
        page: {
            "lang": "de-AT" if at < 12 else "en" if at < 22 else "fr" if at < 23 else "",
            "tags": tags("a" if at < 16 else "li"),
            "siblings": (0, 1, 2, 3)[at % 4],
        }
        for at, page in enumerate(pages)
    }
    scored = {"dbce": dict.fromkeys(pages, (0.75, 0.25, 0.5)), "peer": dict.fromkeys(pages, (0.5, 0.0, 0.25))}
    evaluated(tmp_path / "run" / part, scored, known=known)
    page = page_of(tmp_path, str(tmp_path / "run"))
    dbce, peer = "**0.500** (0.500-0.500)<br>P 0.750, R 0.250", "0.250 (0.250-0.250)<br>P 0.500, R 0.000"

    for named, heads in (
        ("language", ["de (12)", "en (10)", "other (1)", "not known (1)"]),
        (
            "cluster and siblings",
            ["cluster 0 (16)", "cluster 1 (8)", "0 siblings (6)", "1-2 siblings (12)", "3 siblings and more (6)"],
        ),
    ):
        head, *rows = rows_below(page, f"{title}, by {named}")
        assert ["extractor", *heads] == head
        assert ["dbce", "peer"] == [row[0] for row in rows]
        assert {dbce, dbce.replace(" (0.500-0.500)", "")} >= set(rows[0][1:])
        assert {peer, peer.replace(" (0.250-0.250)", "")} >= set(rows[1][1:])
    assert "cluster 0 has 100.0 % a, 0.0 % h1, 0.0 % h2; cluster 1 has 100.0 % li," in " ".join(page.split())


def test_siblings_are_those_of_the_run_with_most(tmp_path: Path) -> None:
    """A sample has fewer, and our method saw all, in whatever order the folders are given."""
    for run, extractor, siblings in (("own", "dbce", 5), ("peers", "peer", 0)):
        evaluated(tmp_path / run / "whole", {extractor: DBCE}, known={page: {"siblings": siblings} for page in DBCE})
    page = page_of(tmp_path, str(tmp_path / "own"), str(tmp_path / "peers"))

    assert "3 siblings and more (2)" in rows_below(page, "Whole pages, by cluster and siblings")[0]


@pytest.mark.parametrize(
    ("part", "ours", "questions"),
    [
        ("whole", "dbce", ["type", "complexity", "language", "cluster"]),
        ("articles", "dbce-article", ["language", "cluster"]),
    ],
)
def test_only_sure_differences_are_findings(part: str, ours: str, questions: list[str], tmp_path: Path) -> None:
    """Ahead and behind are kinds of pages whose interval leaves out 0; all others are too close to say."""
    kinds = {"one": (16, 0.25), "two": (14, -0.25), "three": (12, 0.0)}
    known: dict[str, dict[str, Any]] = {}
    scored: dict[str, dict[str, Parts]] = {ours: {}, "peer": {}}
    for kind, (name, (count, less)) in enumerate(kinds.items()):
        for at in range(count):
            page = f"{name}-{at}"
            swing = 0.2 * (-1) ** at if not less else 0.0
            scored[ours][page], scored["peer"][page] = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5 - less + swing)
            known[page] = {
                "page_type": name,
                "lang": name,
                "tags": tags(("a", "li", "p")[kind]),
                "complexity": (0.1, 0.9, 0.5)[kind],
            }
    evaluated(tmp_path / "run" / part, scored, known=known)
    found = " ".join(page_of(tmp_path, str(tmp_path / "run")).partition("\n## All sets")[0].split())
    title = {"whole": "Whole pages", "articles": "Articles"}[part]

    names = {
        "type": ("one", "two", "three"),
        "language": ("one", "two", "three"),
        "complexity": ("complex", "easy", "mid-complex"),
        "cluster": ("cluster 0", "cluster 1", "cluster 2"),
    }
    for question in questions:
        one, two, three = names[question]
        said = found.partition(f"**{title} by {question}:** ")[2].partition("**")[0]
        assert f"{ours} is ahead of the best of others on {one} (0.500; peer 0.250), and behind" in said
        assert f"and behind the best of others on {two} (0.500; peer 0.750). Too close to say: {three} (0.500; " in said
    assert f"**{title} by set:**" not in found, "there is one"


def test_few_pages_are_too_few_to_say(tmp_path: Path) -> None:
    """Five pages are all better by chance once in 16 times."""
    for dataset, count in (("few", 5), ("more", 6)):
        pages = of_many(*[1.0] * count)
        evaluated(
            tmp_path / dataset / "whole",
            {"dbce": pages, "peer": dict.fromkeys(pages, (0.5, 0.5, 0.5))},
            dataset,
        )
    page = " ".join(page_of(tmp_path, str(tmp_path / "few"), str(tmp_path / "more")).split())

    assert (
        "**Whole pages by set:** dbce is ahead of the best of others on more (1.000; peer 0.500)."
        " Too close to say: few (1.000; peer 0.500)."
    ) in page


def test_the_ceiling_is_that_of_the_card(tmp_path: Path) -> None:
    """The agreement of readers stands above the table of whole pages, as the card of their labels says it."""
    for part in ("whole", "articles"):
        evaluated(tmp_path / part / part, {"dbce": DBCE, "peer": PEER})
    page = " ".join(page_of(tmp_path, str(tmp_path / "whole")).split())
    card = " ".join((ROOT / "benchmarks/labels/README.md").read_text(encoding="utf-8").split())

    assert "agree to a mean F1 of the pages of .994 on content nodes (71 of the pages" in page
    for said in (
        "71 were read twice so: of 19,922 nodes 99.2 % alike, F1 of the content nodes .985, mean of the pages .994",
        "42 were read twice so: of 15,033 nodes 99.8 % alike, F1 of the content nodes .998, mean of the pages .988",
        "48 were read twice so: of 9,153 nodes 98.1 % alike, mean F1 of the pages .989",
        "Of `archives` 61 pages were read twice so, before one of the two was taken: of 3,396 nodes 97.9 % alike, F1 of"
        " the content nodes .978",
        "`formasaurus` 45 were read twice so: of 8,341 nodes 97.4 % alike, F1 of the content nodes .957",
    ):
        assert said in card
    assert "ceiling" not in page_of(tmp_path, str(tmp_path / "articles"))


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
    untyped = {"page_type": ""}
    evaluated(tmp_path / "run/whole", {"dbce": DBCE, "peer": PEER}, known={"a": untyped, "b": untyped})
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
        ["dbce", "**0.375** (0.250-0.500)<br>P 0.500, R 0.375"],
        ["peer", "**0.375** (0.250-0.500)<br>P 0.500, R 0.375"],
    ] == rows_below(page, "Whole pages, by set")


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


def test_articles_are_compared_by_edits_too(tmp_path: Path) -> None:
    """By set and complexity, as the tables of the study."""
    evaluated(tmp_path / "run/articles", {"dbce": DBCE, "peer": PEER}, known={"a": {"complexity": 0.1}})
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert [
        ["extractor", "all (2)", "complex (1)", "easy (1)", "made (2)"],
        ["dbce", "**0.875**", "**0.750**", "**1.000**", "**0.875**"],
        ["peer", "0.375", "0.500", "0.250", "0.375"],
    ] == rows_below(page, "Articles, by edit distance")


def test_pages_are_counted_by_their_gold_error(tmp_path: Path) -> None:
    """Between the bounds of the study's figure 3.6, the upper one included."""
    evaluated(tmp_path / "run/articles", {"dbce": DBCE, "peer": PEER}, known={"a": {"gold_error": 0.02}})
    page = page_of(tmp_path, str(tmp_path / "run"))

    assert [
        ["set", "0", "0-1 %", "1-2 %", "2-5 %", "5-10 %", "10-20 %", "20-50 %", "50-100 %"],
        ["made", "1", "0", "1", "0", "0", "0", "0", "0"],
    ] == rows_below(page, "Pages by their gold error")


def test_sentences_say_who_wins_and_where_golds_disagree(tmp_path: Path) -> None:
    """The first of all and of others, and the furthest moves between ranks."""
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
        "rank the 3 extractors of others alike to -1.00",
        "r is number 1 by articles and number 3 by whole pages.",
        "p is number 3 by articles and number 1 by whole pages.",
    ):
        assert sentence in found


def test_an_ensemble_with_a_method_of_ours_is_none_of_others(tmp_path: Path) -> None:
    """A sentence of its own says whether it adds to ours."""
    scored = {"dbce": DBCE, "em_3_5": PEER, "em_3_5+dbce": {"a": (1.0, 1.0, 0.75), "b": (1.0, 1.0, 0.75)}}
    evaluated(tmp_path / "run/whole", scored)
    page = " ".join(page_of(tmp_path, str(tmp_path / "run")).split())

    assert "dbce (0.875) less the best of others, em_3_5 (0.375), is +0.500" in page
    assert "less the best ensemble that it is a member of, em_3_5+dbce (0.750), is +0.125 (+0.000 to +0.250)." in page


def test_only_extractors_that_move_are_said_to(tmp_path: Path) -> None:
    """There is no example of a disagreement if both golds rank all of them alike."""
    scored = {name: {"a": (f1, f1, f1)} for name, f1 in {"dbce": 0.9, "p": 0.8, "q": 0.7, "r": 0.6}.items()}
    for part in ("whole", "articles"):
        evaluated(tmp_path / "run" / part, scored)
    found = page_of(tmp_path, str(tmp_path / "run"))

    assert "alike to 1.00" in found
    assert "is number" not in found


def test_the_commands_that_made_it_stand_below(tmp_path: Path) -> None:
    """Each names files, extractors, sample and settings, beside its date and the digest of its folds."""
    evaluated(tmp_path / "peers/articles", {"peer": PEER}, sample=150, extractors=["peers"])
    evaluated(
        tmp_path / "own/articles",
        {"dbce": DBCE, "dbce-article": DBCE},
        folds="0123456789ab",
        settings=["label.title=drop"],
    )
    page = page_of(tmp_path, str(tmp_path / "peers"), str(tmp_path / "own"))
    commands = ("peers --sample-size 150", "dbce,dbce-article --folds folds --set label.title=drop")

    assert [
        [run, "articles", "2026-11-25", folds, f"`dbce evaluate made.jsonl --extractors {options}`"]
        for run, folds, options in zip("12", ("", "0123456789ab"), commands, strict=True)
    ] == rows_below(page, "How it was made")[1:3]
    assert 'PHRASES="PHRASES/*.jsonl.xz" FOLDS=folds PEER_PAGES=150\n```' in page


def test_sets_are_named_by_digests(tmp_path: Path) -> None:
    """With their number of pages, and the runs that had these: a sample is other pages than all."""
    for run, extractor, pages in (("peers", "peer", "a"), ("own", "dbce", "ab"), ("more", "dbce-article", "ab")):
        evaluated(tmp_path / run / "articles", {extractor: {page: DBCE[page] for page in pages}})
    evaluated(tmp_path / "own/whole", {"dbce": DBCE}, "made-read")
    page = page_of(tmp_path, *(str(tmp_path / run) for run in ("peers", "own", "more")))

    assert [
        ["part", "set", "pages", "digest", "runs"],
        ["whole", "made-read", "2", "digest of a,b", "1"],
        ["articles", "made", "1", "digest of a", "2"],
        ["articles", "made", "2", "digest of a,b", "3, 4"],
    ] == [row for row in rows_below(page, "How it was made") if not row[0].startswith("-")][5:]


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
