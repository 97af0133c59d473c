"""Files appear whole."""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pytest

from dbce_spark.errors import OutputError
from dbce_spark.files import storage as store
from tests.support import bucket
from tests.support.full_disks import full_disk


def fail_halfway(path: str) -> None:
    with store.atomic_file(path) as stream:
        stream.write(b"half")
        raise RuntimeError("halfway")


def test_a_file_that_fails_is_not_there(tmp_path: Path) -> None:
    """An error while writing leaves neither the file nor a part of it."""
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(str(tmp_path / "a" / "f"))

    assert [] == list((tmp_path / "a").iterdir())


def test_a_file_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    """A second attempt that fails does not harm what the first has written."""
    (tmp_path / "f").write_bytes(b"before")
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(str(tmp_path / "f"))

    assert b"before" == (tmp_path / "f").read_bytes()


def test_a_link_leads_to_what_is_written(tmp_path: Path) -> None:
    """It stays a link, to the file that was there and to one that was not yet."""
    (tmp_path / "before").write_bytes(b"before")
    for name in ("before", "none"):
        (tmp_path / f"to_{name}").symlink_to(name)
        store.write(str(tmp_path / f"to_{name}"), b"after")

    assert ["before", "none", "to_before", "to_none"] == sorted(one.name for one in tmp_path.iterdir())
    assert [True, True] == [(tmp_path / name).is_symlink() for name in ("to_before", "to_none")]
    assert [b"after", b"after"] == [(tmp_path / name).read_bytes() for name in ("before", "none")]


@pytest.mark.parametrize("name", ["empty", "none"])
def test_a_link_leads_to_a_folder_that_is_written(tmp_path: Path, name: str) -> None:
    """To one that is empty, and to one that is not there yet."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(name)
    with store.atomic_folder(str(tmp_path / "link")) as folder:
        store.write(f"{folder}/f", b"whole")

    assert (True, b"whole") == ((tmp_path / "link").is_symlink(), (tmp_path / name / "f").read_bytes())
    assert {"empty", "link", name} == {one.name for one in tmp_path.iterdir()}


def test_a_pipe_takes_what_is_written(tmp_path: Path) -> None:
    """A file in its place would leave its reader waiting; so it is with a device."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        store.write(str(path), b"all")
        assert b"all" == os.read(reader, 9)
    finally:
        os.close(reader)

    assert path.is_fifo()


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    """The error names it, and it stays."""
    with pytest.raises(IsADirectoryError, match=re.escape(f"'{tmp_path}'")):
        store.write(str(tmp_path), b"all")


@pytest.mark.parametrize("storage", ["", "memory://"])
def test_names_in_a_folder_and_what_is_removed(tmp_path: Path, storage: str) -> None:
    """Wherever fsspec takes it: the names in a folder, none of one that is not there, and none that was removed."""
    folder = f"{storage}{tmp_path}"
    for name in ("a", "b/c", "d"):
        with store.atomic_file(f"{folder}/out/{name}") as file:
            file.write(b"whole")
    before = store.list_names(f"{folder}/out/")
    for name in ("b", "d", "none"):
        store.remove(f"{folder}/out/{name}")

    assert ({"a", "b", "d"}, {"a"}) == (before, store.list_names(f"{folder}/out"))
    assert set() == store.list_names(f"{folder}/none")


def test_halves_of_files_are_no_names_and_are_swept(tmp_path: Path) -> None:
    """A process that is killed while it writes leaves one, or a folder of them; whole files stay, also with an
    underscore."""
    half_folder = tmp_path / "below" / f"_folder.{'1' * 32}"
    half_folder.mkdir(parents=True)
    for name in ("f", f"_f.{'2' * 32}"):
        (half_folder / name).touch()
    for name in ("f", "_SUCCESS", f"_run.json.{'0123456789abcdef' * 2}", f"below/_f.{'0' * 32}"):
        (tmp_path / name).touch()
    names = store.list_names(str(tmp_path))
    store.sweep(str(tmp_path))
    store.sweep("memory://none")

    assert {"below", "_SUCCESS", "f"} == names == {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")}


@pytest.mark.parametrize(
    ("name", "message"), [("file", "is a file"), ("pipe", "is a file"), ("//", "cannot be listed")]
)
def test_a_folder_that_is_none_is_refused(tmp_path: Path, name: str, message: str) -> None:
    """A file or pipe where the output should be, or unknown storage, is reported in one line."""
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match=message):
        store.list_names(f"no-such-storage:{name}" if name.startswith("//") else str(tmp_path / name))


def test_a_bucket_that_takes_nothing_is_found_before_the_work() -> None:
    """The error says what its store says; of a bucket that takes all nothing is left there."""
    with bucket.served() as url:
        with pytest.raises(OutputError, match=r"^s3://none/out: cannot be written: .*bucket does not exist"):
            store.check_bucket("s3://none/out")
        store.check_bucket(f"{url}/out")

        assert {} == bucket.objects_below(url)


def test_a_store_without_credentials_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of an output that cannot be listed is that of an input: by which variables a key is given."""
    with bucket.served() as url:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        with pytest.raises(OutputError, match=r"Unable to locate .*; give credentials as .* AWS_ACCESS_KEY_ID"):
            store.list_names(f"{url}/out")


def fail_in_folder(path: str, error: BaseException) -> None:
    with store.atomic_folder(path) as folder:
        with store.atomic_file(f"{folder}/inner/f") as file:
            file.write(b"whole")
        raise error


@pytest.mark.parametrize("storage", ["", "memory://"])
def test_a_folder_is_there_when_it_is_whole(tmp_path: Path, storage: str) -> None:
    """Files written into a folder are there when the block ends well, and nothing beside them."""
    path = f"{storage}{tmp_path}/whole/folder"
    with store.atomic_folder(path) as folder, store.atomic_file(f"{folder}/inner/f") as file:
        file.write(b"whole")

    assert {"inner"} == store.list_names(path)
    assert {"folder"} == store.list_names(f"{storage}{tmp_path}/whole")


@pytest.mark.parametrize("storage", ["", "memory://"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OutputError("damaged"), "^damaged$"),
        (
            OSError(errno.ENOSPC, "full"),
            r"folder: cannot be written: OSError: \[Errno 28\] full; make room, and give the same",
        ),
        (KeyboardInterrupt("stopped"), "^stopped$"),
    ],
)
def test_a_folder_that_fails_is_not_there(tmp_path: Path, storage: str, error: BaseException, message: str) -> None:
    """Whatever ends the block, no file stays; an error of ours is passed on as it is, another names the folder."""
    path = f"{storage}{tmp_path}/failed/folder"
    with pytest.raises((OutputError, KeyboardInterrupt), match=message):
        fail_in_folder(path, error)

    assert set() == store.list_names(f"{storage}{tmp_path}/failed")


def test_errors_that_are_none_of_writing_a_folder_are_passed_on(tmp_path: Path) -> None:
    """A fault of the program, and a file that cannot be read, are no fault of the folder, of which nothing stays."""
    unread = FileNotFoundError(errno.ENOENT, "none", str(tmp_path / "input"))
    for error in (KeyError("text"), unread):
        with pytest.raises(type(error)) as raised:
            fail_in_folder(str(tmp_path / "folder"), error)
        assert error is raised.value

    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("named", ["{folder}/f", "{above}", None])
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, named: str | None) -> None:
    """By the path that it was given, also if the error names a file in it, the folder that it lies in, or nothing."""
    path = str(tmp_path / "inner")
    with (
        pytest.raises(OutputError, match=f"^{re.escape(path)}: cannot be written: .* make it writable"),
        store.atomic_folder(path) as folder,
    ):
        raise PermissionError(errno.EACCES, "refused", named and named.format(folder=folder, above=tmp_path))


def test_an_empty_folder_is_filled_and_not_replaced(tmp_path: Path) -> None:
    """It may be a mount, or one whose mode or place is not this user's to choose; nothing is left beside it."""
    target = tmp_path / "volume"
    target.mkdir(mode=0o750)
    before = target.stat()
    with store.atomic_folder(str(target)) as folder:
        for name in ("a/f", "b.json", "c"):
            store.write(f"{folder}/{name}", b"whole")

    assert (before.st_ino, before.st_mode) == (target.stat().st_ino, target.stat().st_mode)
    assert {"a", "b.json", "c"} == {one.name for one in target.iterdir()}
    assert [target] == [*tmp_path.iterdir()]


def test_an_empty_folder_stays_empty_where_it_cannot_be_filled(tmp_path: Path) -> None:
    """As a new one is not there then."""
    (tmp_path / "volume").mkdir()
    with pytest.raises(OutputError, match="full"):
        fail_in_folder(str(tmp_path / "volume"), OSError(errno.ENOSPC, "full"))

    assert [] == [*(tmp_path / "volume").iterdir()]


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    """Nothing is written over, and what is there stays; an empty folder may be filled."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(OutputError, match="full: is not empty; give a new folder"):
        fail_in_folder(str(tmp_path / "full"), OSError())
    (tmp_path / "empty").mkdir()
    with store.atomic_folder(str(tmp_path / "empty")) as folder, store.atomic_file(f"{folder}/f"):
        pass

    assert ({"file"}, {"f"}) == (store.list_names(str(tmp_path / "full")), store.list_names(str(tmp_path / "empty")))


def test_a_link_is_the_same_file(tmp_path: Path) -> None:
    """No byte of it is copied; one that is there stays."""
    (tmp_path / "a").write_text("a")
    for _ in range(2):
        store.link(tmp_path / "a", tmp_path / "folder" / "b")

    assert (tmp_path / "a").samefile(tmp_path / "folder" / "b")


def test_where_there_are_no_links_a_file_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is there when it is whole."""

    def none(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr("os.link", none)
    (tmp_path / "a").write_text("a")
    store.link(tmp_path / "a", tmp_path / "b")

    assert ["a", "b"] == sorted(one.name for one in tmp_path.iterdir())
    assert "a" == (tmp_path / "b").read_text()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that were waited for until they were on the disk, in their order."""
    found: list[Path] = []
    sync = os.fsync

    def noted(number: int) -> None:
        found.append(Path(f"/proc/self/fd/{number}").readlink())
        sync(number)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the names of open files")
def test_a_folder_is_on_the_disk_before_it_has_its_name(tmp_path: Path, synced: list[Path]) -> None:
    """With all that was written into it, by whatever program, and its name before anything is said of it."""
    with store.atomic_folder(str(tmp_path / "f")) as folder:
        Path(folder, "in").mkdir()
        Path(folder, "in/a").write_text("a")
    partial = Path(folder)

    assert [{partial / "in", partial / "in/a", partial, tmp_path}, {tmp_path}] == [{*synced[:-1]}, {*synced[-1:]}]
    assert "a" == (tmp_path / "f/in/a").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the names of open files")
def test_a_link_is_on_the_disk(tmp_path: Path, synced: list[Path]) -> None:
    """Its name is: the file was there."""
    (tmp_path / "a").write_text("a")
    store.link(tmp_path / "a", tmp_path / "b")

    assert [tmp_path] == synced


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its name before anything is said of it: power that fails leaves no file that is there and empty."""
    steps = []

    def noted(step: str, before: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            is_folder = step == "sync" and stat.S_ISDIR(os.fstat(arguments[0]).st_mode)
            steps.append((step, (tmp_path / "f").exists(), is_folder))
            return before(*arguments)

        return call

    monkeypatch.setattr(os, "fsync", noted("sync", os.fsync))
    monkeypatch.setattr(Path, "replace", noted("name", Path.replace))
    with store.atomic_file(str(tmp_path / "f")) as stream:
        stream.write(b"content")

    assert [("sync", False, False), ("name", False, False), ("sync", True, True)] == steps


def test_an_object_that_cannot_be_closed_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store forgets what it has of it, and the first error is the one that is raised."""
    steps: list[str] = []

    class Lost:
        def close(self) -> None:
            steps.append("close")
            raise OSError("no connection")

        def discard(self) -> None:
            steps.append("discard")

    stores = SimpleNamespace(open=lambda *_, **__: Lost())
    monkeypatch.setattr(store, "url_to_fs", lambda _: (stores, "a"))
    with pytest.raises(ValueError, match="the first"), store.atomic_file("s3://bucket/a"):
        raise ValueError("the first")

    assert ["close", "discard"] == steps


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """By the file that was to be written, of which nothing stays."""
    with full_disk(1_000), pytest.raises(OSError, match=re.escape(f"File too large: '{tmp_path / 'a.json'}'")):
        store.write(str(tmp_path / "a.json"), bytes(2_000))

    assert [] == [*tmp_path.iterdir()]
