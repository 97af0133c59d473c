"""The classifier's file: written and read again, and whatever else is in its place."""

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.errors import ConfigError
from tests.support import small_classifier

RAN: list[str] = []


class Hostile:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RAN.append, ("ran",)


def of_pickle() -> bytes:
    return pickle.dumps(Hostile())


def of_objects() -> bytes:
    """Write an .npz whose array is a pickle."""
    stream = io.BytesIO()
    np.savez(stream, about=np.array([Hostile()], object))
    return stream.getvalue()


def of_array() -> bytes:
    """Write an .npy, not an .npz."""
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    return stream.getvalue()


def other_npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def about(content: Any) -> bytes:
    return other_npz(about=np.frombuffer(json.dumps(content).encode(), np.uint8))


def saved(folder: Path) -> Path:
    path = folder / "saved.npz"
    save_classifier(small_classifier.classifier(), path)
    return path


@pytest.mark.parametrize(
    "content",
    [
        of_pickle(), of_objects(), of_array(), b"", b"PK", b"text", other_npz(x=np.arange(2)), about({}), about([1]),
        about({"names": {}}), other_npz(about=np.array([255], np.uint8)),
        other_npz(about=np.full(100_000, ord("["), np.uint8)),
    ],
    ids="pickle,objects,npy,empty,zip begun,text,npz,no names,list,no groups,no text,lists without end".split(","),
)  # fmt: skip
def test_file_that_is_no_classifier(content: bytes, tmp_path: Path) -> None:
    """It is an error that names the file, and nothing in it is run."""
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"label\.classifier: .*other\.npz is no classifier") as refused:
        load_classifier(str(path))

    assert [] == RAN
    assert "pickle" not in str(refused.value)  # NumPy's advice is to trust the file


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_file(share: float, tmp_path: Path) -> None:
    """A file that ends too early is no classifier."""
    path = saved(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_damaged_file(tmp_path: Path) -> None:
    """Nor one of whose bytes some are others."""
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as stored:
        entry = next(info for info in stored.infolist() if info.filename == "second_values.npy")
    start = entry.header_offset + 30 + len(entry.filename) + 40
    content[start : start + 40] = bytes(255 - byte for byte in content[start : start + 40])
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_classifier_without_a_card(tmp_path: Path) -> None:
    """Whatever is missing in a file, it is no classifier."""
    path = saved(tmp_path)
    with np.load(path) as stored:
        arrays = dict(stored)
    content = json.loads(bytes(arrays["about"]))
    del content["card"]
    np.savez(path, **arrays | {"about": np.frombuffer(json.dumps(content).encode(), np.uint8)})
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


@pytest.mark.parametrize("changed", ["first_lasts", "second_leaves", "second_splits", "whole_values"])
def test_trees_that_cannot_be_walked(changed: str, tmp_path: Path) -> None:
    """A file by others is refused before a page is labelled by it: down such a tree one may walk without end."""
    path = saved(tmp_path)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays[changed] = arrays[changed][:0] if changed == "whole_values" else arrays[changed] * 0
    np.savez(path, **arrays)
    with pytest.raises(ConfigError, match="is no classifier"):
        load_classifier(str(path))


def test_missing_file() -> None:
    """The error names it."""
    with pytest.raises(ConfigError, match=r"none\.npz is no classifier"):
        load_classifier("none.npz")


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    """The same features, the same card; written again the same bytes, with no time in them."""
    path, again = saved(tmp_path), tmp_path / "again.npz"
    loaded, made = load_classifier(str(path)), small_classifier.classifier()
    save_classifier(loaded, again)
    pages = [one.parsed for one in small_classifier.examples()[:8]]

    assert made.card == loaded.card
    for expected, actual in zip(made.block_features(pages), loaded.block_features(pages), strict=True):
        assert np.array_equal(expected.codes, actual.codes)
        assert np.array_equal(expected.first_scores, actual.first_scores)
        assert np.array_equal(expected.keys, actual.keys)
    assert path.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(path) as stored:
        assert {1980} == {info.date_time[0] for info in stored.infolist()}


def test_configured_classifier_is_read_once(classifying: DbceConfig) -> None:
    """Not for each page anew."""
    assert load_classifier(classifying.label.classifier) is load_classifier(classifying.label.classifier)
