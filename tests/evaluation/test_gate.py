"""Floors hold what was reached, and sink only on request."""

from pathlib import Path

import pytest

from benchmarks.samples.sample_gold import write_gold
from dbce_spark import config
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.errors import EvaluationError, InputError
from dbce_spark.evaluation import evaluation_job, gate
from dbce_spark.evaluation.gate import Pinned
from tests.support.fake_extractors import gold_pages, own_set
from tests.support.page_scores import made_scores, page

FLOORS = Path(__file__).parents[2] / "conf" / "floors.json"


def reached(value: float, *, pages: str = "digest", folds: str = "", extractor: str = "dbce") -> dict[str, Pinned]:
    return {"made": Pinned(pages, folds, {extractor: {"rouge_l": value}})}


@pytest.fixture
def floors(tmp_path: Path) -> str:
    path = str(tmp_path / "floors.json")
    gate.pin(path, reached(0.912), lower=False)
    return path


def test_a_floor_is_a_mean_rounded_down(tmp_path: Path) -> None:
    """Over the pages of a set, each the same: 0.9126 becomes 0.912, and 0.7 stays 0.7."""
    pages = gold_pages(tmp_path, own_set())
    facts = [page(at, dataset="made") for at in range(5)]
    scores = made_scores(facts, {"dbce": [0.563, 1, 1, 1, 1], "lxml": [0.7] * 5})
    found = gate.measured(scores, {"made": pages}, "folds")["made"]
    assert {"rouge_l": 0.912, "levenshtein": 0.912} == found.floors["dbce"]
    assert {"rouge_l": 0.7, "levenshtein": 0.7} == found.floors["lxml"]
    assert gate.pages_digest(pages) == found.pages != gate.pages_digest(pages[1:])
    assert "folds" == found.folds


@pytest.mark.parametrize("value", [0.912, 0.95])
def test_what_is_not_under_its_floor_passes(floors: str, value: float) -> None:
    """One floor was held."""
    assert 1 == gate.check(floors, reached(value))


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (reached(0.911), "made dbce rouge_l is 0.911, floor 0.912"),
        (reached(0.99, extractor="lxml"), "made dbce rouge_l is not measured, floor 0.912"),
        (reached(0.99, pages="others"), "the floors of made are of other pages"),
        (reached(0.99, folds="f"), r"of other folds \(floors without folds, scores of folds f\) than these"),
        ({"other": reached(0.99)["made"]}, "no floors for other"),
    ],
)
def test_whatever_is_not_shown_to_hold_fails(floors: str, now: dict[str, Pinned], message: str) -> None:
    """A score that sank, one that was not measured, other pages, and no floors at all."""
    with pytest.raises(EvaluationError, match=message):
        gate.check(floors, now)


@pytest.mark.parametrize(("now", "named"), [("", "without folds"), ("other", "of folds other")])
def test_floors_by_folds_hold_for_these_folds_alone(tmp_path: Path, now: str, named: str) -> None:
    """A classifier that has seen the pages, or others, would pass floors of classifiers that have not."""
    path = str(tmp_path / "floors.json")
    gate.pin(path, reached(0.9, folds="f"), lower=False)

    assert 1 == gate.check(path, reached(0.9, folds="f"))
    with pytest.raises(EvaluationError, match=rf"the floors of made .* \(floors of folds f, scores {named}\)"):
        gate.check(path, reached(0.99, folds=now))


def test_a_floor_rises_by_itself_and_sinks_only_on_request(floors: str) -> None:
    """A refusal writes nothing."""
    gate.pin(floors, reached(0.95), lower=False)
    with pytest.raises(EvaluationError, match=r"made dbce rouge_l from 0.950 to 0.900.*--lower-floors"):
        gate.pin(floors, reached(0.9), lower=False)
    assert reached(0.95) == gate.read(floors)
    gate.pin(floors, reached(0.9), lower=True)
    assert reached(0.9) == gate.read(floors)


def test_other_pages_need_asking_too(floors: str) -> None:
    """Without --lower-floors a set with easier pages would raise every floor and hold nothing."""
    with pytest.raises(EvaluationError, match="made has other pages now"):
        gate.pin(floors, reached(0.99, pages="easier"), lower=False)
    gate.pin(floors, reached(0.99, pages="easier"), lower=True)
    assert reached(0.99, pages="easier") == gate.read(floors)


def test_other_folds_need_asking_too(floors: str) -> None:
    """And then floors of every extractor are new: one set has one kind of scores."""
    gate.pin(floors, reached(0.5, extractor="lxml"), lower=False)
    with pytest.raises(EvaluationError, match=r"made has other folds .*scores of folds f\) now; --lower-floors"):
        gate.pin(floors, reached(0.99, folds="f"), lower=False)
    assert "" == gate.read(floors)["made"].folds
    gate.pin(floors, reached(0.99, folds="f"), lower=True)
    assert reached(0.99, folds="f") == gate.read(floors)


def test_what_was_not_measured_keeps_its_floors(floors: str) -> None:
    """Another extractor on the same set, and another set."""
    gate.pin(floors, reached(0.5, extractor="lxml"), lower=False)
    gate.pin(floors, {"other": Pinned("o", "", {"dbce": {"rouge_l": 0.4}})}, lower=False)
    found = gate.read(floors)
    assert {"dbce": {"rouge_l": 0.912}, "lxml": {"rouge_l": 0.5}} == found["made"].floors
    assert {"made", "other"} == set(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"sets": {"made": {}}}',
        '{"sets": {"made": {"pages": "", "folds": "", "floors": 1}}}',
        '{"sets": {"made": {"pages": "", "floors": {}}}}',
    ],
    ids=lambda text: str(text)[:30],
)
def test_a_file_that_holds_no_floors_is_named(tmp_path: Path, text: str) -> None:
    """Cut off, another shape, or without what is needed."""
    path = tmp_path / "floors.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"floors.json: (cannot be read|is no file of floors)"):
        gate.read(str(path))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """A gate without floors holds nothing, so it does not pass."""
    with pytest.raises(InputError, match="cannot be read"):
        gate.check(str(tmp_path / "none.json"), reached(1.0))


def test_the_sample_archive_keeps_its_floors(tmp_path: Path) -> None:
    """The gate that runs everywhere: `make gate` on the pages that ship with the program."""
    path = tmp_path / "gate.jsonl"
    write_gold(path, pages=60, seed=1)
    request = evaluation_job.EvaluationRequest(
        paths=[str(path)],
        extractors=["dbce-article", "dbce"],
        output=str(tmp_path / "out"),
        limit=None,
        time_limit=30.0,
        floors=str(FLOORS),
    )

    assert evaluation_job.evaluate(request, config.default()).startswith("# Scores")


def test_no_floor_is_of_pages_that_the_classifier_was_trained_on() -> None:
    """They would hold what it remembers."""
    trained_on = {name.removesuffix("-read") for name in load_classifier("").card["sets"]}
    pinned = gate.read(str(FLOORS))

    assert pinned
    assert [] == [name for name, one in pinned.items() if not one.folds and name.removesuffix("-read") in trained_on]
