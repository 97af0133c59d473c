"""Connections to web servers that a deadline can end, and that lead to the public network alone unless others are
allowed."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Event, Timer, local
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.util.connection import create_connection


class Deadline:
    """The end of the connections that a thread opens: they are shut down then, whatever they wait for, and so is one
    that is opened later."""

    def __init__(self) -> None:
        self._over = Event()
        self._opened: list[socket.socket] = []  # second handles: TLS takes the first over

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def guard(self, opened: socket.socket) -> None:
        self._opened.append(opened.dup())
        if self.is_over:
            self.end()

    def end(self) -> None:
        self._over.set()
        for one in [*self._opened]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for one in self._opened:
            one.close()


_of_thread = local()
"""Has the `deadline` of this thread, if it has one."""


@contextmanager
def deadline(seconds: float) -> Iterator[Deadline]:
    """Set a deadline, so many seconds from now, to the connections that this thread opens within the block."""
    found = _of_thread.deadline = Deadline()
    timer = Timer(seconds, found.end)
    timer.daemon = True
    timer.start()
    try:
        yield found
    finally:
        timer.cancel()
        del _of_thread.deadline
        found.close()


class _Guarded(HTTPConnection):
    """A connection that a deadline can end, also while its head is read or keys are exchanged."""

    is_private_allowed = True

    def _new_conn(self) -> socket.socket:
        """Connect to the first of the host's addresses that can be reached.

        Raises:
            NewConnectionError: there is none before the deadline, or one is not of the public network.
        """
        ends: Deadline | None = getattr(_of_thread, "deadline", None)
        failure: OSError | None = None
        for address in self._addresses():
            if ends is not None and ends.is_over:
                break
            try:
                sock = create_connection((address, self.port), self.timeout, socket_options=self.socket_options)
            except OSError as error:
                failure = error
                continue
            if ends is not None:
                ends.guard(sock)
            return sock
        raise NewConnectionError(self, f"cannot be reached: {failure}") from failure

    def _addresses(self) -> list[str]:
        """Look the host's addresses up, all before one is asked, so that no name leads to another address behind the
        check."""
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NewConnectionError(self, f"no address: {error}") from error
        addresses = [*dict.fromkeys(str(one[4][0]) for one in found)]
        if not self.is_private_allowed and (private := [one for one in addresses if not _is_public(one)]):
            raise NewConnectionError(self, f"{private[0]} is no public address; acquire.private_addresses allows it")
        return addresses


_NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that a gateway translates to those of IPv4 that they end with (RFC 6052)."""
_LOCAL = tuple(map(IPv6Network, ("::/96", "64:ff9b:1::/48", "fec0::/10")))
"""Networks that some versions of Python take for public: of an IPv4 address that IPv6 once had in itself (RFC 4291),
of gateways of one's own (RFC 8215), and of sites (RFC 3879)."""


def _is_public(address: str) -> bool:
    """Return whether an address is of the public network, also where it holds another one, as IPv6 can."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (IPv4Address(found.packed[-4:]) if found in _NAT64 else None)
        if inner is not None and not _is_public(str(inner)):
            return False
    return found.is_global and not found.is_multicast and not any(found in one for one in _LOCAL)


class _GuardedTls(_Guarded, HTTPSConnection):
    """The same with TLS."""


class _Public(_Guarded):
    """A connection to the public network only."""

    is_private_allowed = False


class _PublicTls(_GuardedTls):
    """The same with TLS."""

    is_private_allowed = False


def _pools(plain: type[HTTPConnection], tls: type[HTTPSConnection]) -> dict[str, type[Any]]:
    return {
        "http": type("_Pool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("_TlsPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
    }


PRIVATE_POOLS, PUBLIC_POOLS = _pools(_Guarded, _GuardedTls), _pools(_Public, _PublicTls)
"""Pools of connections by scheme: to any address, and to the public network alone."""
