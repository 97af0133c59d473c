"""The study's tables that need more than scores: learned from other sites, and written from results alone."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from lxml import etree

from dbce_spark.commands import cli
from dbce_spark.evaluation.extracting import ensembles
from dbce_spark.evaluation.extracting.ensembles import THIRTEEN
from reproductions import __main__ as reproductions
from reproductions.study import (
    ensemble_learning,
    estimated_complexity,
    routing,
    study_pages,
    tag_clusters,
    topics,
)
from reproductions.study.ensemble_learning import LeafVotes
from tests.support.fake_extractors import gold_pages, line, written

UNITS = np.arange(40) // 2
DRAW = np.random.default_rng(3)
MENU, STORY = "Home and other places", "A grey seal came ashore on Tuesday and slept until the evening boat had left"


@pytest.fixture(autouse=True)
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow few trees: what is tested shows with them."""
    for module in (estimated_complexity, ensembles):
        monkeypatch.setattr(module, "TREES", 12)


def leaf_votes(right: bool = True) -> list[LeafVotes]:
    """Return the votes of forty pages of twenty sites; where they are right, all thirteen hold the content alone."""
    content = [np.array([True, False, bool(at % 2), False]) for at in range(40)]
    votes = [one if right else DRAW.random(4) < 0.5 for one in content]
    return [LeafVotes(one * ((1 << 13) - 1), truth) for one, truth in zip(votes, content, strict=True)]


def test_classifiers_are_measured_on_sites_that_they_have_not_seen() -> None:
    """Votes that are right give F1 and AUC of 1 in ten folds and apart; votes by chance an AUC near a half."""
    for one in ensemble_learning.measure(leaf_votes(), UNITS):
        assert (10, 160, (1.0, 1.0)) == (len(one.f1), one.leaves, one.apart)
        assert {1.0} == {*one.f1, *one.auc}
    by_chance = ensemble_learning.measure(leaf_votes(right=False), UNITS)
    assert all(0.3 < np.mean(one.auc) < 0.7 for one in by_chance)
    table = ensemble_learning.report(by_chance)
    assert "| *study* | 465,611 | 0.8720 | 0.0015 | 0.9330 | 0.8355 | 0.9250 |" in table


def test_both_classes_weigh_the_same_in_a_score() -> None:
    """Of one content leaf in ten, which is always found with one other, precision is nine parts in ten."""
    page = LeafVotes(np.array([1, 1, *[0] * 8]), np.array([True, *[False] * 9]))
    (one, _) = ensemble_learning.measure([page] * 40, UNITS)
    assert pytest.approx(2 * 0.9 / 1.9) == one.apart[0]


def test_what_is_predicted_comes_from_other_sites() -> None:
    """A value that a page shares with its site alone cannot be predicted; one that its features show can."""
    shown = np.repeat([0.0, 1.0], 20)[DRAW.permutation(40)][:, None]
    large = np.arange(40) // 5
    of_site = (large % 2).astype(float)
    assert 0.05 > np.abs(estimated_complexity.predict(shown, shown[:, 0], UNITS) - shown[:, 0]).mean()
    by_site = estimated_complexity.predict(large[:, None].astype(float), of_site, large)
    assert 0.3 < np.abs(by_site - of_site).mean()


def test_an_extractor_is_chosen_by_other_sites() -> None:
    """One for all is the best on the others; one for each group is the best of each; a group of one site gets what is
    best on all others."""
    groups = np.arange(40) % 2
    f1 = np.stack([np.where(groups == 0, 1.0, 0.2), np.where(groups == 1, 1.0, 0.1)])
    assert {0} == set(routing.one_for_all(f1, UNITS))
    assert groups.tolist() == routing.by_group(f1, groups, UNITS).tolist()
    assert groups.tolist() == routing.by_forest(f1, groups[:, None].astype(float), UNITS).tolist()
    assert groups.tolist() == routing.best(f1).tolist()
    lonely = np.where(UNITS == 7, 9, 0)
    assert {0} == set(routing.by_group(f1, lonely, UNITS))


def test_pages_are_about_what_their_words_say(tmp_path: Path) -> None:
    """Three different words of a category or more; and a page may name its section, in its head or in its URL."""
    assert "Food & Drink" == topics.topic("Melt the butter, add sugar and flour, and bake it in the oven.")
    assert topics.UNKNOWN == topics.topic("Sugar sugar sugar sugar butter")
    htmls = [
        '<meta property="article:section" content="Sport"><p>one</p>',
        '<script>{"articleSection": ["Recipes"]}</script><p>one</p>',
        "<p>one</p>",
    ]
    assert ["Sports", "Food & Drink", ""] == [
        topics.declared(page) for page in gold_pages(tmp_path, [line(str(at), html) for at, html in enumerate(htmls)])
    ]
    (by_url,) = gold_pages(tmp_path, [line("a", url="http://paper.example/2012/travel/a.html")])
    assert "Travel" == topics.declared(by_url)
    assert (3114, 27) == (sum(topics.PUBLISHED.values()), len(topics.TOPICS))


def test_both_clusterings_are_of_all_pages(tmp_path: Path) -> None:
    """Each page has a cluster on its tags and one on their t-SNE, and the same pages have the same again."""
    features = DRAW.dirichlet(np.ones(14), 30)
    reduced = tag_clusters.reduced(features)
    assert (30, tag_clusters.DIMENSIONS) == reduced.shape
    assert reduced.tolist() == tag_clusters.reduced(features).tolist()


def test_the_report_is_written_from_results_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what `dbce evaluate` leaves, with all tables; pages that it was not given are refused in a line."""
    html = f"<html><body><ul><li><a href='/'>{MENU}</a></li></ul><p>{STORY}</p></body></html>"
    lines = [
        line(f"p{at}", html.replace("Tuesday", f"day {at}" + " x" * (at % 5)), STORY, site=f"s{at // 2}.example")
        for at in range(16)
    ]
    path, results, out = written(tmp_path, lines, "made.jsonl"), str(tmp_path / "results"), tmp_path / "out"
    asked = ["--extractors", "dbce,bte,beautifulsoup,inscriptis", "--output", results]
    assert 0 == cli.main(["evaluate", path, *asked])
    assert 0 == reproductions.main(["study", results, path, "--output", str(out)])
    report = (out / "study.md").read_text("utf-8")

    assert report.startswith("# Tables of the study of extractors\n\n16 pages of 8 sites.")
    assert f"Not measured: {', '.join(name for name in THIRTEEN if name not in asked[1])} did not run." in report
    candidates = [row.partition("Candidates: ")[2] for row in report.splitlines() if row.startswith("Candidates")]
    assert ["bte, beautifulsoup, inscriptis.", "dbce, bte, beautifulsoup, inscriptis."] == candidates
    for row in ("| the page alone |", "| on their t-SNE | easy |", "| the best of each page |", "| not known | 16 |"):
        assert f"\n{row}" in report
    for svg in (row for row in report.splitlines() if row.startswith("<svg")):
        assert 16 == len(etree.fromstring(svg.encode()).findall(".//{*}circle"))

    capsys.readouterr()
    other = written(tmp_path, lines[1:], "other.jsonl")
    assert 0 != reproductions.main(["study", results, other, "--output", str(out)])
    assert "pages are not in the given files" in capsys.readouterr().err


def test_results_that_lack_a_fact_of_today_are_read(tmp_path: Path) -> None:
    """Results of before gold was compared with siblings know of no page whose gold recurs."""
    lines = [line(f"p{at}", f"<p>{STORY} {at}", STORY, site=f"s{at}.example") for at in range(3)]
    path, results = written(tmp_path, lines, "made.jsonl"), str(tmp_path / "results")
    assert 0 == cli.main(["evaluate", path, "--extractors", "bte,lxml", "--output", results])
    pages = f"{results}/pages.parquet"
    pq.write_table(pq.read_table(pages).drop_columns(["gold_recurrence"]), pages)

    assert [0.0] * 3 == [one.gold_recurrence for one in study_pages.read(results, [path]).facts]


def test_pages_of_one_site_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing can be learned from other sites; it ended in a stack."""
    lines = [line(f"p{at}", f"<p>{STORY} {at}", STORY, site="s.example") for at in range(3)]
    path, results = written(tmp_path, lines, "made.jsonl"), str(tmp_path / "results")
    assert 0 == cli.main(["evaluate", path, "--extractors", "bte,lxml", "--output", results])

    assert 2 == reproductions.main(["study", results, path, "--output", str(tmp_path / "out")])
    assert "all pages are of one site" in capsys.readouterr().err
