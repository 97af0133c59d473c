"""Pages labelled by classifiers that have not seen their site."""

from pathlib import Path

import pytest

import benchmarks
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.errors import InputError
from dbce_spark.evaluation.folds import FOLDS_FILE, by_classifier, digest, read_pinned
from dbce_spark.evaluation.training.train_job import FOLDS
from tests.support.fake_extractors import gold_pages, line


def test_each_site_has_its_classifier(tmp_path: Path) -> None:
    """By the site that captures have; one that nobody has seen gets the first."""
    (tmp_path / FOLDS_FILE).write_text('{"b.example": "fold-1.npz", "a.example": "fold-0.npz"}')
    names = ("a.example", "news.b.example", "b.example", "c.example")
    lines = [line(name, f"<p>{name}</p>", site=name, url=f"http://{name}/x.html") for name in names]
    found = by_classifier(gold_pages(tmp_path, lines), str(tmp_path))

    assert {
        str(tmp_path / "fold-0.npz"): ["a.example", "c.example"],
        str(tmp_path / "fold-1.npz"): ["news.b.example", "b.example"],
    } == {path: [page.page_id for page in pages] for path, pages in found.items()}


def test_other_classifiers_are_other_folds(tmp_path: Path) -> None:
    """The digest goes by what is in the files; a log beside them is nothing to it."""
    (tmp_path / FOLDS_FILE).write_text("{}")
    (tmp_path / "fold-0.npz").write_bytes(b"one")
    one = digest(str(tmp_path))
    (tmp_path / "train.log").write_text("done")
    assert one == digest(str(tmp_path))
    (tmp_path / "fold-0.npz").write_bytes(b"other")
    assert one != digest(str(tmp_path))
    assert "" == digest("")


def test_no_pages(tmp_path: Path) -> None:
    """No pages need no classifier."""
    (tmp_path / FOLDS_FILE).write_text('{"a.example": "fold-0.npz"}')

    assert {} == by_classifier([], str(tmp_path))


def test_pins_are_what_training_writes(tmp_path: Path) -> None:
    """Of each site the number of its fold."""
    path = tmp_path / FOLDS_FILE
    path.write_text('{"b.example": "fold-1.npz", "a.example": "fold-0.npz"}')

    assert {"a.example": 0, "b.example": 1} == read_pinned(str(path), 2)


@pytest.mark.parametrize(
    "content",
    [None, "[]", "no json", "7", "[" * 100_000, '{"a": 1}', '{"a": ["fold-1.npz"]}', '{"a": "fold-2.npz"}'],
    ids=lambda text: str(text)[:19],
)
def test_file_that_pins_nothing(content: str | None, tmp_path: Path) -> None:
    """The error names the file; there are two folds."""
    path = tmp_path / FOLDS_FILE
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=r"folds.json is no file of 2 folds as `dbce train --folds` writes it"):
        read_pinned(str(path), 2)


@pytest.mark.parametrize("content", [None, "{}", "[]", "no json", "7", "[" * 100_000], ids=lambda text: str(text)[:9])
def test_folder_that_holds_no_folds(content: str | None, tmp_path: Path) -> None:
    """The error names the folder."""
    if content is not None:
        (tmp_path / FOLDS_FILE).write_text(content)
    with pytest.raises(InputError, match="is no folder that `dbce train --folds` wrote"):
        by_classifier([], str(tmp_path))


def test_the_folds_of_the_shipped_classifier_are_published() -> None:
    """Each of its sites is in one; those of one owner, the Danish and the English netarchive, in the same."""
    pinned = read_pinned(str(Path(benchmarks.__file__).with_name("folds.json")), FOLDS)

    assert load_classifier("").card["sites"] == len(pinned)
    assert set(range(FOLDS)) == set(pinned.values())
    assert pinned["netarchive.dk"] == pinned["netarkivet.dk"]
