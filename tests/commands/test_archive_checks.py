"""Archives that one process is to hold are checked before it works."""

from types import SimpleNamespace

import pytest
from fsspec.registry import known_implementations

from dbce_spark.commands.archive_checks import check_fits
from dbce_spark.errors import InputError
from dbce_spark.files import sources


def test_an_archive_whose_server_gives_no_size_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the first of them, and not as too large; the remedy is a file."""
    unsized = SimpleNamespace(info=lambda path: {"size": None if path == "b" else 1})
    monkeypatch.setattr(sources, "file_system", lambda path: (unsized, path))

    with pytest.raises(InputError, match=r"^b: its server does not say how large it is; fetch it to a file"):
        check_fits(["a", "b"], 1 << 30)


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words in which a run names it."""
    monkeypatch.setitem(known_implementations, "cloud", {"class": "no_such_driver.Cloud", "err": "Install cloudfs"})

    with pytest.raises(InputError, match=r"^cloud://a: cannot be read: its driver is not installed \(Install"):
        check_fits(["cloud://a"], 1 << 30)
