"""A file system that, as NFS does, keeps a file that is removed while a process has it open."""

import os
from pathlib import Path
from typing import Any

import pytest


def keep_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give files that this process has open another name when they are removed; their folder then cannot be removed."""
    unlink = os.unlink

    def unlink_of_nfs(path: Any, *, dir_fd: int | None = None) -> None:
        inode = os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
        if any(os.path.samestat(inode, one) for one in _open_files()):
            name = str(Path(path).with_name(".nfs0001"))
            os.rename(path, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        else:
            unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink_of_nfs)


def _open_files() -> list[os.stat_result]:
    return [one.stat() for one in Path("/proc/self/fd").iterdir() if one.exists()]
