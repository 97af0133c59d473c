"""`dbce train` from gold file to classifiers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.samples.sample_gold import write_gold
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.classifier.classify import Classifier
from dbce_spark.errors import ConfigError, InputError, PlatformError
from dbce_spark.evaluation.folds import FOLDS_FILE
from dbce_spark.evaluation.training import boosted_trees, train_job, trainer
from dbce_spark.evaluation.training.prepared_pages import PreparedPages
from tests.support.builders import CONFIG


@pytest.fixture(scope="module")
def small() -> Iterator[None]:
    """Trees so few and small that training takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name, trees in (("FIRST_TREES", 2), ("SECOND_TREES", 3), ("ARTICLE_TREES", 3), ("REPLY_TREES", 2)):
            patch.setattr(trainer, name, trees)
        for name in ("WHOLE_TREES", "TYPE_TREES"):
            patch.setattr(trainer, name, 3)
        for parameters in (boosted_trees.PARAMETERS, boosted_trees.WHOLE_PARAMETERS):
            patch.setitem(parameters, "num_threads", 1)
        patch.setattr(train_job, "FOLDS", 3)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small: None) -> Path:
    """Train once; return the folder of the files, with the command's message."""
    made = tmp_path_factory.mktemp("training")
    write_gold(made / "gold.jsonl", pages=16, seed=2)
    request = train_job.TrainRequest(
        paths=[str(made / "gold.jsonl")], output=str(made / "new" / "all.npz"), folds=str(made / "folds"), limit=None
    )
    (made / "message.txt").write_text(train_job.train(request, CONFIG))
    return made


def test_training_reports_what_it_wrote(folder: Path) -> None:
    """The message has the file, its size and the number of pages."""
    size = (folder / "new" / "all.npz").stat().st_size
    pages = len((folder / "gold.jsonl").read_text("utf-8").splitlines())

    assert f"{folder}/new/all.npz: {size:,} bytes, trained on {pages} pages" == (folder / "message.txt").read_text()


def test_card_names_what_it_was_trained_on(folder: Path) -> None:
    """Sets, pages, sites and blocks; those of a fold also which one they have not seen."""
    card = load_classifier(str(folder / "new" / "all.npz")).card
    of_fold = load_classifier(str(folder / "folds" / "fold-1.npz")).card

    assert {"sample": card["pages"]} == card["sets"]
    assert card["blocks"] > card["pages"] > card["sites"] > 1
    assert {"without_fold": 1} == {name: of_fold[name] for name in of_fold.keys() - card.keys()}


def test_every_site_is_in_one_fold(folder: Path) -> None:
    """And each fold has its file."""
    sites = json.loads((folder / "folds" / FOLDS_FILE).read_text())

    assert {"fold-0.npz", "fold-1.npz", "fold-2.npz"} == set(sites.values())
    assert {*sites.values(), FOLDS_FILE} == {path.name for path in (folder / "folds").iterdir()}
    assert len(sites) == load_classifier(str(folder / "new" / "all.npz")).card["sites"]


def test_some_folds_alone_are_as_among_all(folder: Path, tmp_path: Path) -> None:
    """The same bytes, and no other fold's sites."""
    prepared = train_job.prepare([str(folder / "gold.jsonl")], None, CONFIG)
    train_job.train_folds(prepared, tmp_path, [1])
    sites, of_all = (json.loads((made / FOLDS_FILE).read_text()) for made in (tmp_path, folder / "folds"))

    assert {"fold-1.npz", FOLDS_FILE} == {path.name for path in tmp_path.iterdir()}
    assert (folder / "folds" / "fold-1.npz").read_bytes() == (tmp_path / "fold-1.npz").read_bytes()
    assert {site: name for site, name in of_all.items() if name == "fold-1.npz"} == sites


def test_sites_that_share_texts_are_in_one_fold(folder: Path, tmp_path: Path) -> None:
    """Whose pages a classifier has seen under one address, it has seen under the other."""
    lines = [json.loads(line) for line in (folder / "gold.jsonl").read_text("utf-8").splitlines()]
    longest = max(lines, key=lambda line: len(line["gold"]))
    copy = longest | {"id": "copy", "url": "http://copy.example/", "site": ""}
    pages = tmp_path / "gold.jsonl"
    pages.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, copy]), "utf-8")
    prepared = train_job.prepare([str(pages)], None, CONFIG)
    train_job.train_folds(prepared, tmp_path / "folds")
    folds = json.loads((tmp_path / "folds" / FOLDS_FILE).read_text())

    at = lines.index(longest)
    assert "copy.example" == prepared.sites[-1] == prepared.owners[at]
    assert folds["copy.example"] == folds[prepared.sites[at]]


def request(folder: Path, output: Path, **others: Any) -> train_job.TrainRequest:
    return train_job.TrainRequest(
        **{"paths": [str(folder / "gold.jsonl")], "output": str(output), "folds": None, "limit": None, **others}
    )


def test_folds_can_be_pinned(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their classifiers have not seen them; a site that the file does not name has a fold as well."""
    seen: list[set[str]] = []

    def train(pages: PreparedPages, card: Mapping[str, Any]) -> Classifier:
        seen.append({*pages.sites})
        return load_classifier(str(folder / "new" / "all.npz"))

    monkeypatch.setattr(trainer, "train", train)
    before = json.loads((folder / "folds" / FOLDS_FILE).read_text())
    following = {"fold-0.npz": "fold-1.npz", "fold-1.npz": "fold-2.npz", "fold-2.npz": "fold-0.npz"}
    first, *others = sorted(before)
    pinned = {site: following[before[site]] for site in others} | {"gone.example": "fold-0.npz"}
    (tmp_path / "pins.json").write_text(json.dumps(pinned))
    pins = str(tmp_path / "pins.json")
    train_job.train(request(folder, tmp_path / "x.npz", folds=str(tmp_path / "f"), pinned_folds=pins), CONFIG)
    found = json.loads((tmp_path / "f" / FOLDS_FILE).read_text())

    assert {site: pinned[site] for site in others} == {site: found[site] for site in others}
    assert {*before} == {*found}
    assert found[first] in following
    assert [{site for site in found if found[site] != name} for name in following] == seen[:3]


@pytest.mark.parametrize(("fold_of_other", "warnings"), [(2, 0), (0, 1)])
def test_sites_of_one_owner_go_where_the_first_is_pinned(
    fold_of_other: int, warnings: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By its name; a warning names a site that is pinned elsewhere. A site that is pinned takes its fellows along."""
    sites = ["b.example", "c.example", "a.example", "d.example"]
    prepared = SimpleNamespace(sites=sites, owners=["a.example", "a.example", "a.example", "d.example"])
    pinned = {"c.example": fold_of_other, "b.example": 2, "d.example": 1}

    assert [2, 2, 2, 1] == train_job.fold_of_pages(prepared, pinned).tolist()  # type: ignore[arg-type]
    assert warnings == len(caplog.messages)
    assert all("c.example is pinned to fold 0" in one for one in caplog.messages)


def test_pins_need_folds(folder: Path, tmp_path: Path) -> None:
    """Without --folds they would change nothing, which is said before hours of training; so are errors in them."""
    (tmp_path / "pins.json").write_text("{}")
    pins = str(tmp_path / "pins.json")
    with pytest.raises(ConfigError, match="--pinned-folds has an effect beside --folds only; add --folds DIR"):
        train_job.train(replace(request(folder, tmp_path / "x.npz", pinned_folds=pins), paths=["none"]), CONFIG)
    wrong = request(folder, tmp_path / "x.npz", folds=str(tmp_path / "f"), pinned_folds=str(tmp_path / "none.json"))
    with pytest.raises(InputError, match=r"none.json is no file of 3 folds"):
        train_job.train(replace(wrong, paths=["none"]), CONFIG)


def test_same_pages_give_the_same_files(folder: Path, tmp_path: Path) -> None:
    """Byte for byte."""
    output = tmp_path / "again.npz"
    train_job.train(
        train_job.TrainRequest(paths=[str(folder / "gold.jsonl")], output=str(output), folds=None, limit=None), CONFIG
    )

    assert (folder / "new" / "all.npz").read_bytes() == output.read_bytes()


def test_training_on_nothing_is_an_error(tmp_path: Path) -> None:
    """No file is left behind."""
    (tmp_path / "none.jsonl").write_text("")
    request = train_job.TrainRequest(
        paths=[str(tmp_path / "none.jsonl")], output=str(tmp_path / "x.npz"), folds=None, limit=None
    )
    with pytest.raises(InputError):
        train_job.train(request, CONFIG)

    assert not (tmp_path / "x.npz").exists()


def test_missing_lightgbm_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error comes before anything is read, with what to install."""
    monkeypatch.setattr(train_job, "find_spec", lambda name: None)
    request = train_job.TrainRequest(paths=["none.jsonl"], output=str(tmp_path / "x.npz"), folds=None, limit=None)
    with pytest.raises(PlatformError, match=r"pip install '\.\[train\]'"):
        train_job.train(request, CONFIG)
