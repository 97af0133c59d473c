"""Input arguments to files, and files to bytes."""

import logging
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import known_implementations

from dbce_spark.errors import InputError
from dbce_spark.files.sources import absolute, cause, expand, list_unread, open_binary, size, size_or
from tests.support.range_server import served

PATTERNS = ("*.warc", "*.warc.gz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make two archives, one of them two folders down, and a file that is none."""
    for name in ("a.warc.gz", "deep/er/B.WARC", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content of " + name.encode())
    return tmp_path


@pytest.fixture
def memory() -> Iterator[str]:
    """Write an archive to fsspec's memory filesystem."""
    filesystem = fsspec.filesystem("memory")
    filesystem.pipe("/crawl/c.warc.gz", b"content")
    yield "memory://crawl"
    filesystem.rm("/crawl", recursive=True)


def test_file_is_itself(folder: Path) -> None:
    """A file is taken whatever its name."""
    path = str(folder / "notes.txt")

    assert [path] == expand([path], PATTERNS)


def test_folder_is_searched_at_every_depth(folder: Path) -> None:
    """A folder stands for the files in it whose names fit a pattern, in whatever case."""
    expected = [str(folder / "a.warc.gz"), str(folder / "deep/er/B.WARC")]
    actual = expand([str(folder)], PATTERNS)

    assert expected == actual


def test_glob_takes_files_and_no_folders(folder: Path) -> None:
    """A glob takes every file it matches."""
    expected = [str(folder / "a.warc.gz"), str(folder / "notes.txt")]
    actual = expand([str(folder / "*")], PATTERNS)

    assert expected == actual


def test_manifest_names_one_argument_a_line(folder: Path) -> None:
    """A manifest may hold files, folders, blank lines and comments."""
    manifest = folder / "paths.txt"
    manifest.write_text(f"# a crawl\n\n  {folder}/deep  \n{folder}/a.warc.gz\n")
    expected = [str(folder / "a.warc.gz"), str(folder / "deep/er/B.WARC")]
    actual = expand([f"@{manifest}"], PATTERNS)

    assert expected == actual


def test_a_manifest_may_be_a_pipe(folder: Path) -> None:
    """It has no place to go back to: `find ... | dbce extract @/dev/stdin`, or @<(find ...)."""
    reader, writer = os.pipe()
    os.write(writer, f"\ufeff{folder}/deep\n".encode())
    os.close(writer)
    try:
        assert [str(folder / "deep/er/B.WARC")] == expand([f"@/dev/fd/{reader}"], PATTERNS)
        with pytest.raises(InputError, match="this manifest names nothing"):
            expand([f"@/dev/fd/{reader}"], PATTERNS)
    finally:
        os.close(reader)


def test_files_are_sorted_and_named_once(folder: Path) -> None:
    """However often and in whatever order files are named, each comes once and in its place."""
    more = [folder / f"{name}.warc" for name in "gfedcb"]
    for path in more:
        path.touch()
    expected = sorted([str(folder / "a.warc.gz"), str(folder / "deep/er/B.WARC"), *map(str, more)])
    actual = expand([str(folder / "deep"), *map(str, more), str(folder)], PATTERNS)

    assert expected == actual


def test_a_file_has_one_name_however_it_is_spelled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection has read it, and a run reads it once, whatever slashes and steps stand in an argument."""
    monkeypatch.chdir(folder / "deep")
    spelled = ["./er/B.WARC", ".//er//B.WARC", "../deep/er/../er/B.WARC", f"//{folder}/deep/er/B.WARC"]
    expected = [str(folder / "deep/er/B.WARC")]

    assert expected == expand([*spelled, ".", "..//deep", "../deep/er/*"], PATTERNS)
    assert expected == sorted(set(map(absolute, spelled)))


def test_a_file_url_names_what_the_path_in_it_names(folder: Path) -> None:
    """As Spark and Hadoop write it, too; also in a manifest. Of another host's it is none."""
    file = str(folder / "deep/er/B.WARC")
    (folder / "list.txt").write_text(f"file:{file}\n")
    spelled = [
        f"file:{file}",
        f"file://{file}",
        f"file://localhost{file}",
        f"file:{folder}/deep",
        f"@file://{folder}/list.txt",
    ]

    assert [file] == expand(spelled, PATTERNS)
    assert [f"{folder}/new", "file://elsewhere/new"] == [*map(absolute, (f"file:{folder}/new", "file://elsewhere/new"))]


def test_a_name_is_the_same_before_the_file_is_there(folder: Path) -> None:
    """A run that is given again has the output that it began."""
    before = absolute(str(folder / "deep/../new"))
    (folder / "new").mkdir()

    assert before == absolute(str(folder / "deep/../new")) == str(folder / "new")


def test_a_step_behind_a_link_leads_where_it_leads(folder: Path) -> None:
    """It stays: beside the link may be another file of that name, or none. The link itself is a name, too."""
    (folder / "link").symlink_to("deep/er")
    (folder / "deep" / "a.warc.gz").touch()

    assert [f"{folder}/link/../a.warc.gz"] == expand([f"{folder}/link/../a.warc.gz"], PATTERNS)
    assert [f"{folder}/link/B.WARC"] == expand([f"{folder}/deep/../link/"], PATTERNS)


@pytest.mark.parametrize("argument", ["none.warc", "none*.warc", "empty", "@none.txt", "@empty.txt", "nosuch://x"])
def test_argument_that_names_nothing(tmp_path: Path, argument: str) -> None:
    """The error names the argument."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.txt").write_text("# nothing\n")
    given = argument if "://" in argument else argument.replace("@", f"@{tmp_path}/")
    given = given if "://" in given or given.startswith("@") else f"{tmp_path}/{given}"
    with pytest.raises(InputError) as caught:
        expand([given], PATTERNS)

    assert str(caught.value).startswith(f"{given}: ")


def test_what_is_not_there_is_distinguished_from_a_folder_of_other_files(tmp_path: Path) -> None:
    """A folder is there, and no file of it fits; where nothing is, each kind of input is named."""
    (tmp_path / "page.html").write_text("x")
    names = ", ".join(PATTERNS)
    message = f"no file in this folder is named {names}; name others in full or by a glob"
    with pytest.raises(InputError, match=f"^{re.escape(f'{tmp_path}: {message}')}$"):
        expand([str(tmp_path)], PATTERNS)
    with pytest.raises(InputError, match=r"^www\.example\.org: nothing to read is there; .* a URL with its https://"):
        expand(["www.example.org"], PATTERNS)


def test_missing_file_in_a_manifest_is_named(tmp_path: Path) -> None:
    """It is the line of the manifest that is wrong, and the error says which."""
    manifest = tmp_path / "paths.txt"
    manifest.write_text(f"{tmp_path}/gone.warc\n")
    with pytest.raises(InputError, match=r"gone\.warc: nothing to read is there"):
        expand([f"@{manifest}"], PATTERNS)


@pytest.mark.parametrize("sign", ["", "@"])
def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    """A line names the argument and what its store needs, of a manifest as of a file."""
    monkeypatch.setitem(known_implementations, "cloud", {"class": "no_such_driver.Cloud", "err": "Install cloudfs"})
    with pytest.raises(InputError, match=rf"^{sign}cloud://b/x: .*its driver is not installed \(Install cloudfs\)$"):
        expand([f"{sign}cloud://b/x"], PATTERNS)


@pytest.mark.parametrize("url", ["gone.warc", "cloud://b/gone.warc", "memory://unsized.warc", "memory://sized.warc"])
def test_a_size_that_no_store_gives(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Whatever the store raises; there may be a driver, and a file, and no length of it."""
    found = {"/unsized.warc": {}, "/sized.warc": {"size": 7}}
    monkeypatch.setattr(MemoryFileSystem, "info", lambda _, name, **__: found[name])
    monkeypatch.setitem(known_implementations, "cloud", {"class": "no_such_driver.Cloud", "err": "Install cloudfs"})

    assert (7 if url == "memory://sized.warc" else 5) == size_or(url, 5)


def test_a_manifest_that_leads_back_to_itself_is_refused(tmp_path: Path) -> None:
    """The error has the way around; the same manifest twice is no circle."""
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(f"@{second}\n@{second}\n")
    second.write_text(f"{tmp_path}/second.txt\n")
    assert [str(second)] == expand([f"@{first}", f"@{second}"], PATTERNS)

    second.write_text(f"@{first}\n")
    with pytest.raises(InputError, match=f"back to itself: @{first} -> @{second} -> @{first}"):
        expand([f"@{first}"], PATTERNS)


def test_url_keeps_its_protocol(memory: str) -> None:
    """Files of a remote store come with the protocol they are opened by."""
    expected = ["memory:///crawl/c.warc.gz"]
    actual = expand([memory], PATTERNS)

    assert expected == actual


def test_url_is_opened(memory: str) -> None:
    """A URL that `expand` gives can be opened, read from anywhere, and knows its size."""
    (path,) = expand([memory], PATTERNS)
    with open_binary(path) as stream:
        stream.seek(3)
        actual = stream.read()

    assert (b"tent", 7) == (actual, size(path))


def test_file_is_opened_as_stored(folder: Path) -> None:
    """Nothing is decompressed by its name."""
    with open_binary(str(folder / "a.warc.gz")) as stream:
        actual = stream.read()

    assert (b"content of a.warc.gz", 20) == (actual, size(str(folder / "a.warc.gz")))


@pytest.mark.parametrize("name", ["a[1].warc.gz", "what?.warc", "all*.warc", "[a-z].warc"])
def test_a_file_by_its_very_name_is_no_glob(tmp_path: Path, name: str) -> None:
    """Also in a folder of such a name, and on a line of a manifest."""
    path = tmp_path / "[crawl]" / name
    path.parent.mkdir()
    path.write_bytes(b"content")
    (tmp_path / "list.txt").write_text(f"{path}\n")

    for argument in (path, path.parent, f"@{tmp_path}/list.txt", tmp_path / "?crawl?" / "*"):
        assert [str(path)] == expand([str(argument)], PATTERNS)


@pytest.mark.parametrize("name", ["d[1].warc", "d[1]/e.warc", "d[1]", "?.warc.gz"])
def test_a_file_in_a_store_by_its_very_name_is_no_glob(memory: str, name: str) -> None:
    """It is taken even if others fit it as a glob, as c.warc.gz does here."""
    stored = name if ".warc" in name else f"{name}/e.warc"
    fsspec.filesystem("memory").pipe(f"/crawl/{stored}", b"content")

    assert [f"memory:///crawl/{stored}"] == expand([f"{memory}/{name}"], PATTERNS)


def test_a_bracket_in_what_is_not_there_is_explained(tmp_path: Path) -> None:
    """A set of its own alone stands for it."""
    (tmp_path / "[crawl]").mkdir()
    (tmp_path / "[crawl]" / "a.warc").touch()
    with pytest.raises(InputError, match=r"; in a glob a bracket begins a set of letters, and \[\[\] stands"):
        expand([f"{tmp_path}/[crawl]/*.warc"], PATTERNS)

    assert [f"{tmp_path}/[crawl]/a.warc"] == expand([f"{tmp_path}/[[]crawl]/*.warc"], PATTERNS)


def test_what_is_no_file_is_passed_over_with_a_word(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A pipe would block, a device never end; a link may lead nowhere, and a name may be no text."""
    os.mkfifo(folder / "pipe.warc")
    (folder / "device.warc").symlink_to("/dev/zero")
    (folder / "gone.warc").symlink_to(folder / "nowhere")
    Path(os.fsdecode(bytes(folder / "latin") + b"\xfc.warc")).write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as listener, caplog.at_level(logging.WARNING):
        listener.bind(str(folder / "socket.warc"))
        found = expand([str(folder)], PATTERNS)
        by_glob = expand([f"{folder}/*.warc*"], PATTERNS)
        for name, lack in (("pipe.warc", "no file"), ("socket.warc", "no file"), ("gone.warc", "a link to nothing")):
            with pytest.raises(InputError, match=rf"{name}: .*{lack}"):
                expand([str(folder / name)], PATTERNS)

    assert [str(folder / "a.warc.gz"), str(folder / "deep/er/B.WARC")] == found
    assert found[:1] == by_glob
    named = ["device.warc", "gone.warc", "latin?.warc", "pipe.warc", "socket.warc"]
    assert [str(folder / name) for name in named if "?" not in name] == list_unread([str(folder)], PATTERNS)
    assert named * 2 == [
        name
        for one in (caplog.messages[:5], caplog.messages[5:10])
        for name in sorted(Path(text.split(": ")[0]).name for text in one)
    ]
    assert 10 == len(caplog.messages)  # notes.txt is called as no archive is


@pytest.mark.parametrize(
    ("name", "is_counted"),
    [
        *((f"x.warc.gz{ending}", True) for ending in (".open", ".1", ".tmp", ".part", ".bak", "~")),
        *((name, True) for name in ("x.warc.wet", "x.WARC.zstd", "x.wacz.part", "x.arc.old", "x.bz2")),
        *((f"x.warc.gz{ending}", False) for ending in (".md5", ".sha256", ".sha1sum", ".cdx", ".log", ".json")),
        *((name, False) for name in ("x.warcs", "x.warc.d/notes", "notes.txt", "x.cdxj.gz")),
    ],
)
def test_files_that_are_called_as_an_archive_may_be_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, is_counted: bool
) -> None:
    """An archive that a crawler has not finished, or somebody has kept, is not passed over without a word."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()

    assert [] == list_unread([str(tmp_path)], PATTERNS, ["*.cdxj.gz"])
    assert [is_counted] == [bool(caplog.messages)]


def test_a_folder_that_cannot_be_read_is_named(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are read; a run is not silent about what it could not see."""
    listed = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)  # root may read everything

    assert [str(folder / "a.warc.gz")] == expand([str(folder)], PATTERNS)
    assert [f"{folder}/deep: this folder is not read: Permission denied"] == caplog.messages
    assert [f"{folder}/deep"] == list_unread([str(folder)], PATTERNS)
    with pytest.raises(OSError, match="a folder that cannot be listed"):
        open_binary(f"{folder}/deep")


def test_folders_that_link_to_each_other_are_searched_once(folder: Path) -> None:
    """A circle has an end."""
    (folder / "deep" / "up").symlink_to(folder)

    assert 2 == len(expand([str(folder)], PATTERNS))


def test_a_folder_by_two_names_is_searched_once(folder: Path) -> None:
    """Its files have the name that is no link, however the names are sorted."""
    (folder / "a").symlink_to(folder / "deep")
    (folder / "latest").symlink_to(folder / "deep")

    assert [f"{folder}/a.warc.gz", f"{folder}/deep/er/B.WARC"] == expand([str(folder)], PATTERNS)


def test_an_empty_argument_is_no_folder() -> None:
    """As a path it would be the folder that the program stands in."""
    with pytest.raises(InputError, match="an input is empty; name a file or a folder"):
        expand([""], PATTERNS)


def test_an_archive_on_the_web_is_asked_for_once() -> None:
    """A file named as an archive is no folder, whatever links are in its pages, and is not fetched to be listed."""
    with served(a__warc=b'WARC/1.0\r\n\r\n<a href="b.warc">b</a>') as site:
        assert [f"{site.url}/a.warc"] == expand([f"{site.url}/a.warc"], PATTERNS)
        assert len(site.asked) == 1


def test_remote_arguments_are_looked_up_together(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is asked for the next file while it has not yet answered for the one before."""
    both = threading.Barrier(2)
    glob = MemoryFileSystem.glob

    def glob_with_another(filesystem: MemoryFileSystem, path: str) -> list[str]:
        both.wait(timeout=5)
        return [*glob(filesystem, path)]

    monkeypatch.setattr(MemoryFileSystem, "glob", glob_with_another)

    assert ["memory:///crawl/c.warc.gz"] == expand([f"{memory}/*.gz", f"{memory}/c*"], PATTERNS)


def test_a_store_that_refuses_is_given_other_credentials() -> None:
    """A store says no more than "Forbidden"; a local file is not read with credentials."""
    refused = PermissionError("Forbidden")

    assert cause("s3://b/x", refused).startswith("Forbidden; give credentials as its own tools take them")
    assert "Forbidden" == cause("/b/x", refused)


@pytest.mark.parametrize("why", ["Unable to load libjvm\ndlopen(/x) failed", "Prior attempt to load libhdfs failed"])
def test_what_hdfs_needs_is_named(why: str) -> None:
    """Its driver, which comes with pyarrow, says only what it could not load."""
    expected = "; install Hadoop's client with its libhdfs and a Java on this machine and all workers, and set"

    assert cause("hdfs://nn/x", OSError(why)).startswith(f"{why.splitlines()[0]}{expected} HADOOP_HOME, JAVA_HOME and")
