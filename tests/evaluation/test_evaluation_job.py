"""`dbce evaluate` from gold file to table."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from dbce_spark import config
from dbce_spark.commands.cli import main
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.errors import ConfigError, EvaluationError
from dbce_spark.evaluation import evaluation_job, extracted_texts, gate
from dbce_spark.evaluation.extracting import ensembles, joint_extractors
from dbce_spark.evaluation.extracting.peers import PEERS
from dbce_spark.evaluation.folds import FOLDS_FILE
from dbce_spark.evaluation.scoring import facts, scores
from dbce_spark.evaluation.scoring.scores import NAMES
from tests.support.fake_extractors import line, own_set, written


def table(path: Path, name: str = "scores.parquet") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path / name).to_pylist()
    return rows


def mean_f1(rows: list[dict[str, Any]], **where: str) -> float:
    return round(float(np.mean([row["f1"] for row in rows if where.items() <= row.items()])), 3)


def request(folder: Path, *, names: str, **others: Any) -> evaluation_job.EvaluationRequest:
    """Our own set, into the folder it lies in."""
    return evaluation_job.EvaluationRequest(
        **{
            "paths": [written(folder, own_set())],
            "extractors": names.split(","),
            "output": str(folder),
            "limit": None,
            "time_limit": 30.0,
            **others,
        }
    )


GOLDEN: Mapping[str, Mapping[str, float]] = {
    "dbce-article": {
        "levenshtein": 0.892,
        "jaccard": 0.886,
        "bag_of_words": 0.942,
        "four_gram": 0.932,
        "rouge_l": 0.942,
    },
    "lxml": {"levenshtein": 0.602, "jaccard": 0.611, "bag_of_words": 0.735, "four_gram": 0.704, "rouge_l": 0.735},
}
"""Mean F1 over the pages of our own set. The joint method keeps the heading of each story with it."""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated")
    arguments = [written(folder, own_set()), "--extractors", "dbce-article,lxml", "--output", str(folder)]
    assert 0 == main(["evaluate", *arguments])
    return folder


def test_every_page_extractor_and_metric_has_a_row(evaluated: Path) -> None:
    """Five pages, two extractors, all metrics: nothing is left out and nothing stands twice."""
    rows = table(evaluated)
    names = [(row["page_id"], row["extractor"], row["metric"]) for row in rows]
    assert scores.SCHEMA == pq.read_schema(evaluated / "scores.parquet")
    assert 5 * 2 * len(NAMES) == len(rows) == len(set(names))
    assert Counter({3: 8 * len(NAMES), 0: 2 * len(NAMES)}) == Counter(row["siblings"] for row in rows)


def test_texts_and_facts_lie_beside_the_scores(evaluated: Path) -> None:
    """A row a page and extractor, and a row a page; what lxml gives holds the menu too."""
    rows = {(row["page_id"], row["extractor"]): row["text"] for row in table(evaluated, extracted_texts.NAME)}
    assert 10 == len(rows)
    assert "Tide tables" in rows["story-0", "lxml"]
    assert "Tide tables" not in rows["story-0", "dbce-article"]
    assert facts.SCHEMA == pq.read_schema(evaluated / "pages.parquet")
    assert 5 == len(table(evaluated, "pages.parquet"))


def test_golden_scores_of_our_own_set(evaluated: Path) -> None:
    """The methods reach these scores on the small set; a change of them is a change of results and needs a reason."""
    rows = table(evaluated)
    found = {
        extractor: {metric: mean_f1(rows, extractor=extractor, metric=metric) for metric in GOLDEN[extractor]}
        for extractor in GOLDEN
    }
    assert GOLDEN == found


def test_the_same_files_give_the_same_scores(evaluated: Path, tmp_path: Path) -> None:
    """All but the times is the same in a second run."""
    again = [written(tmp_path, own_set()), "--extractors", "dbce-article,lxml", "--output", str(tmp_path)]
    assert 0 == main(["evaluate", *again])
    without_times = [[{**row, "seconds": 0} for row in table(folder)] for folder in (evaluated, tmp_path)]
    assert without_times[0] == without_times[1]


def test_the_summary_has_both_tables(evaluated: Path) -> None:
    """Five pages in the first table, four in the one of pages with siblings, and no miss."""
    summary = (evaluated / "summary.md").read_text(encoding="utf-8")
    first, second = (part.split("\n## ")[0] for part in summary.split("## ")[1:3])
    assert first.startswith("All pages\n\n5 pages of 2 sites")
    assert second.startswith("Pages with at least 2 siblings\n\n4 pages of 1 site")
    assert summary.endswith("## Misses\n\nNone.\n")


def test_the_report_is_written_too(evaluated: Path) -> None:
    """One file of HTML."""
    assert (evaluated / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_two_sets_also_stand_side_by_side(tmp_path: Path) -> None:
    """With more than one set there is a table with a column a set."""
    other = [line("z", "<p>three four</p>", "three four", dataset="other")]
    paths = [written(tmp_path, own_set()), written(tmp_path, other, "other.jsonl")]
    summary = evaluation_job.evaluate(request(tmp_path, names="lxml", paths=paths, limit=2), config.default())
    assert "| extractor | made (2) | other (1) |" in summary


def test_a_second_run_takes_the_texts_of_peers_and_their_seconds(tmp_path: Path) -> None:
    """With --reuse the summary counts them; a joint method runs again, and the scores are the same."""
    evaluation_job.evaluate(request(tmp_path, names="dbce,lxml"), config.default())
    before = table(tmp_path)
    summary = evaluation_job.evaluate(request(tmp_path, names="dbce,lxml", reuse=True), config.default())
    seconds = [[row["seconds"] for row in rows if row["extractor"] == "lxml"] for rows in (before, table(tmp_path))]
    assert "5 texts are those of an earlier run" in summary
    assert seconds[0] == seconds[1]
    assert [row["f1"] for row in before] == [row["f1"] for row in table(tmp_path)]


def test_without_reuse_nothing_is_taken_again(tmp_path: Path) -> None:
    """Everything is measured anew."""
    evaluation_job.evaluate(request(tmp_path, names="lxml"), config.default())
    assert "earlier run" not in evaluation_job.evaluate(request(tmp_path, names="lxml"), config.default())


def test_an_ensemble_has_rows_beside_its_members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is made of their texts on all sets, and stands in its place among the requested names."""
    monkeypatch.setitem(ensembles.SELECTIONS, 5, ("lxml", "bte"))
    summary = evaluation_job.evaluate(request(tmp_path, names="em_2_5,lxml,bte"), config.default())
    found = {(row["page_id"], row["extractor"]): row["text"] for row in table(tmp_path, extracted_texts.NAME)}
    assert "of the paired test against em_2_5" in summary
    assert 15 == len(found)
    assert set(found["story-0", "em_2_5"].split()) <= set(found["story-0", "lxml"].split())


def test_an_ensemble_without_its_members_is_refused_at_once(tmp_path: Path) -> None:
    """Before a page is read."""
    with pytest.raises(ConfigError, match="bte, trafilatura, readability, newspaper4k too; add them"):
        evaluation_job.evaluate(request(tmp_path, names="resiliparse,em_2_5", paths=["none.jsonl"]), config.default())


def test_pages_that_were_skipped_are_counted(tmp_path: Path) -> None:
    """They are counted by set; there is no note if there are none."""
    lines = [*own_set(), line("z", tok_cov=0.5)]
    summary = evaluation_job.evaluate(
        request(tmp_path, names="lxml", paths=[written(tmp_path, lines, "z.jsonl")]), config.default()
    )
    assert "Skipped, because page and gold do not belong together: made 1." in summary
    assert "Skipped" not in evaluation_job.evaluate(request(tmp_path, names="lxml"), config.default())


def test_gold_that_says_little_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty one is met by no text at all, and one page is no mean; where every gold is empty nothing is measured."""
    empty, page = line("1", html="<p>a b c", gold=" "), line("2", html="<p>a b c", gold="a b c")
    command = ["--extractors", "lxml", "--output", str(tmp_path)]

    assert 0 == main(["evaluate", written(tmp_path, [page]), *command])
    assert "There is one page: each mean is its score alone" in capsys.readouterr().out
    assert 0 == main(["evaluate", written(tmp_path, [empty, page]), *command])
    assert "The gold of 1 of 2 pages is empty" in capsys.readouterr().out
    assert 2 == main(["evaluate", written(tmp_path, [empty]), *command])
    assert "the gold of every page is empty" in capsys.readouterr().err


def test_sets_that_the_classifier_was_trained_on_are_named(tmp_path: Path) -> None:
    """A set that it has not seen is not, nor any where folds keep its pages out or no method of ours is scored."""
    paths = [
        written(tmp_path, [line(at, "<p>a b c", "a b c", dataset=name) for at in "12"], f"{name}.jsonl")
        for name in ("wcxb-read", "other")
    ]
    warning = "The classifier was trained on pages of wcxb-read, so methods of ours score too well there"

    (tmp_path / "folds").mkdir()
    (tmp_path / "folds" / FOLDS_FILE).write_text('{"a.example": "fold-0.npz"}', "utf-8")
    save_classifier(load_classifier(""), tmp_path / "folds" / "fold-0.npz")

    def summary(names: str, **others: str) -> str:
        asked = replace(request(tmp_path, names=names, **others), paths=paths)
        return evaluation_job.evaluate(asked, config.default())

    assert warning in summary("dbce")
    assert "was trained on" not in summary("lxml")
    assert "was trained on" not in summary("dbce", folds=str(tmp_path / "folds"))
    paths = paths[1:]
    assert "was trained on" not in summary("dbce")


def test_all_extractors_are_those_that_can_run_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Own or peers or both; missing packages are named, and an ensemble that needs one is left out too."""
    here = {name: peer for name, peer in PEERS.items() if name in ("lxml", "bte")}
    monkeypatch.setattr(
        evaluation_job, "PEERS", {**here, "gone": replace(PEERS["lxml"], lacking=lambda: "gone is not here")}
    )
    dbce = joint_extractors.JOINT["dbce"]
    monkeypatch.setattr(evaluation_job, "JOINT", {"dbce": dbce, "dbce-spark": dbce})
    for names, expected in {"all": {"dbce", "lxml", "bte"}, "own": {"dbce"}, "peers": {"lxml", "bte"}}.items():
        summary = evaluation_job.evaluate(request(tmp_path, names=names), config.default())
        assert (names != "own") == ("Left out: gone is not here." in summary)
        assert expected == {row["extractor"] for row in table(tmp_path)}


def test_a_description_lies_beside_the_scores(tmp_path: Path) -> None:
    """Files by their names, pages that were taken, and the day: what a citation of the scores needs."""
    evaluation_job.evaluate(request(tmp_path, names="lxml", sample=2, output=str(tmp_path / "out")), config.default())
    described = json.loads((tmp_path / "out" / evaluation_job.DESCRIPTION).read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", described.pop("date"))
    assert re.fullmatch(r"[0-9a-f]{32}", described.pop("digests")["made"])
    assert {
        "files": ["made.jsonl"],
        "pages": {"made": 2},
        "extractors": ["lxml"],
        "limit": None,
        "sample": 2,
        "folds": "",
        "settings": [],
    } == described


def test_methods_of_ours_run_with_the_parameters_that_are_set(tmp_path: Path) -> None:
    """With the labels of table T001 `dbce` is what `dbce-T001` always is; summary and description name the setting,
    as scores with another are others."""
    gold, setting = written(tmp_path, own_set()), "label.by=T001"
    names = ["--extractors", "dbce,dbce-T001"]

    assert 0 == main(["evaluate", gold, *names, "--output", str(tmp_path / "out"), "--set", setting])
    texts: dict[str, list[str]] = {"dbce": [], "dbce-T001": []}
    for row in table(tmp_path / "out", "texts.parquet"):
        texts[row["extractor"]].append(row["text"])
    assert texts["dbce"] == texts["dbce-T001"]
    assert f"Parameters that were set: {setting}." in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    described = json.loads((tmp_path / "out" / evaluation_job.DESCRIPTION).read_text(encoding="utf-8"))
    assert [setting] == described["settings"]


def test_floors_of_the_shipped_parameters_hold_no_others(tmp_path: Path) -> None:
    """Scores would fall under them, or be pinned, for what nobody ships."""
    wrong = request(tmp_path, names="lxml", floors="f.json", settings=["label.content=article"])
    with pytest.raises(ConfigError, match="leave out --set, or --floors"):
        evaluation_job.evaluate(wrong, config.default())


def test_two_extractors_of_one_name_are_refused(tmp_path: Path) -> None:
    """One of them would not run, and the other stand in every table twice."""
    with pytest.raises(ConfigError, match="two are called a; give each a name of its own"):
        evaluation_job.evaluate(request(tmp_path, names="a=cat,lxml,a=true", paths=["none.jsonl"]), config.default())


@pytest.mark.parametrize("wrong", [{"pin_floors": True}, {"floors": "f.json", "lower_floors": True}])
def test_floors_are_pinned_only_with_all_options(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """Incomplete options are refused before anything runs."""
    with pytest.raises(ConfigError, match="add --"):
        evaluation_job.evaluate(request(tmp_path, names="lxml", paths=["none.jsonl"], **wrong), config.default())


def test_floors_are_pinned_and_held(tmp_path: Path) -> None:
    """The reached scores pass; a higher floor does not, and the scores are written all the same."""
    floors = tmp_path / "floors.json"
    evaluation_job.evaluate(request(tmp_path, names="lxml", floors=str(floors), pin_floors=True), config.default())
    summary = evaluation_job.evaluate(request(tmp_path, names="lxml", floors=str(floors)), config.default())
    assert summary.endswith(f"\n2 scores are not under {floors}.\n")
    floors.write_text(floors.read_text().replace("0.735", "0.736"))
    (tmp_path / "summary.md").unlink()
    with pytest.raises(EvaluationError, match=r"1 of 2 scores .*made lxml rouge_l is 0\.735, floor 0\.736"):
        evaluation_job.evaluate(request(tmp_path, names="lxml", floors=str(floors)), config.default())
    assert (tmp_path / "summary.md").exists()


def test_floors_are_pinned_to_the_folds_of_the_run(tmp_path: Path) -> None:
    """Under the digest that its description has; a run without these folds is not held to them."""
    (tmp_path / "folds").mkdir()
    (tmp_path / "folds" / FOLDS_FILE).write_text('{"a.example": "fold-0.npz"}', "utf-8")
    by_folds = {"names": "lxml", "floors": str(tmp_path / "floors.json"), "folds": str(tmp_path / "folds")}
    evaluation_job.evaluate(request(tmp_path, **by_folds, pin_floors=True), config.default())
    described = json.loads((tmp_path / evaluation_job.DESCRIPTION).read_text("utf-8"))

    assert described["folds"] == gate.read(by_folds["floors"])["made"].folds != ""
    assert "2 scores are not under" in evaluation_job.evaluate(request(tmp_path, **by_folds), config.default())
    with pytest.raises(EvaluationError, match="scores without folds"):
        evaluation_job.evaluate(request(tmp_path, **{**by_folds, "folds": ""}), config.default())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl", "--output", "o"], "none.jsonl: there is no such file"),
        (["made.jsonl", "--output", "o", "--extractors", "dbse"], "dbse: not known"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong argument ends with status 2 and one line, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, own_set())
    assert 2 == main(["evaluate", "--extractors", "dbce", *arguments])
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "o").exists()


@pytest.mark.data
def test_news_pages(shared_data: Path, tmp_path: Path) -> None:
    """The first sixty pages of news sites: nearly all content is found, and nearly nothing else."""
    path = str(shared_data / "gold" / "big9.jsonl.xz")
    assert 0 == main(["evaluate", path, "--extractors", "dbce-article", "--limit", "60", "--output", str(tmp_path)])
    rows = [row for row in table(tmp_path) if row["metric"] == "rouge_l"]
    assert np.mean([row["recall"] for row in rows]) > 0.97
    assert np.mean([row["precision"] for row in rows]) > 0.97


def test_what_learns_from_a_stream_has_its_course_shown(tmp_path: Path) -> None:
    """Summary and report show the scores over documents, and which extractor passes which."""
    summary = evaluation_job.evaluate(request(tmp_path, names="urltree,lxml"), config.default())
    section = summary.partition("## Over the stream")[2].partition("\n## ")[0]
    report = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert "| extractor | 1 (2) | 2-4 (3) | all (5) |" in section
    assert "| urltree | lxml | 0 of 0 |" in section
    assert '<h2 id="stream">' in report
    assert "documents of the stream" in report
