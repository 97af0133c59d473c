"""OpenStack Swift, an object store that is in use elsewhere, on this machine: it speaks S3 as Amazon's does.

It is installed into a folder of its own, since it asks for other libraries than the tests do.
"""

import os
import pwd
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from signal import SIGKILL

from tests.support.free_ports import free_ports

INSTALLED = Path("~/.cache/dbce-spark/swift").expanduser()
PACKAGES = ("swift>=2.38", "setuptools<81")  # of setuptools Swift needs pkg_resources, which went with 81
KEY, SECRET = "test:tester", "not-for-logs-4711"
PATIENCE = 120

_SERVER = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
log_address = /dev/null

[pipeline:main]
pipeline = {pipeline}

[app:{name}-server]
use = egg:swift#{egg}
"""
_PROXY = """allow_account_management = true
account_autocreate = true

[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
dns_compliant_bucket_names = no

[filter:tempauth]
use = egg:swift#tempauth
user_{user} = {secret} .admin

[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
"""
_FILTERS = ("catch_errors", "listing_formats", "bulk", "slo", "dlo", "copy")
_PIPELINE = "catch_errors cache listing_formats bulk s3api tempauth copy slo dlo proxy-server"
_HASH = """
[swift-hash]
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
"""


class Unavailable(Exception):
    """Swift cannot be had here, for a reason that the tests give when they are passed over."""


def install() -> Path:
    """The folder of Swift's commands, made if it is not there.

    Raises:
        Unavailable: it cannot be installed.
    """
    ready = INSTALLED / "ready"
    if not ready.exists():
        for command in (
            (sys.executable, "-m", "venv", str(INSTALLED)),
            (str(INSTALLED / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES),
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                raise Unavailable(f"Swift cannot be installed: {' '.join(last)}")
        ready.touch()
    return INSTALLED / "bin"


@contextmanager
def server(folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment in which S3 is a Swift that keeps its objects in a folder; it ends with the block.

    Raises:
        Unavailable: it cannot be installed, or the folder cannot hold its marks.
    """
    commands = install()
    try:
        os.setxattr(folder, "user.swift", b"1")
    except OSError as error:
        raise Unavailable(f"Swift needs extended attributes of files: {error}") from error
    ports = dict(zip(("account", "container", "object", "proxy"), free_ports(4), strict=True))
    environment = {**os.environ, "SWIFT_DIR": str(folder), "PYTHONWARNINGS": "ignore"}
    (folder / "devices" / "one").mkdir(parents=True)
    (folder / "swift.conf").write_text(_HASH)
    for kind, port in ports.items():
        (folder / f"{kind}.conf").write_text(_configuration(kind, port, folder))
        if kind != "proxy":
            _ring(commands, folder / f"{kind}.builder", port, environment)
    with ExitStack() as running:
        for kind in ports:
            running.enter_context(_process(commands / f"swift-{kind}-server", folder / f"{kind}.conf", environment))
        for kind, port in ports.items():
            _await(port, folder / f"{kind}.log")
        yield {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['proxy']}",
        }


def _configuration(kind: str, port: int, folder: Path) -> str:
    is_proxy = kind == "proxy"
    common = _SERVER.format(
        port=port,
        user=pwd.getpwuid(os.getuid()).pw_name,
        folder=folder,
        pipeline=_PIPELINE if is_proxy else f"{kind}-server",
        name=kind,
        egg=kind,
    )
    if not is_proxy:
        return common
    filters = "".join(f"\n[filter:{name}]\nuse = egg:swift#{name}\n" for name in _FILTERS)
    return common + _PROXY.format(user=KEY.replace(":", "_"), secret=SECRET) + filters


def _ring(commands: Path, builder: Path, port: int, environment: Mapping[str, str]) -> None:
    """Says that all of one kind lies once, on the one device."""
    for arguments in (
        ("create", "4", "1", "1"),
        ("add", f"r1z1-127.0.0.1:{port}/one", "1"),
        ("rebalance",),
    ):
        command = [str(commands / "swift-ring-builder"), str(builder), *arguments]
        subprocess.run(command, env=environment, check=True, capture_output=True)


@contextmanager
def _process(command: Path, configuration: Path, environment: Mapping[str, str]) -> Iterator[None]:
    with configuration.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            [str(command), str(configuration), "-v"],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
        process.wait()


def _await(port: int, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.1)
