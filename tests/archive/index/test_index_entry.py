"""The fields of an entry."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.index_entry import moment, normal_digest, url_of
from dbce_spark.files import timestamps
from tests.support.indexes import micros

HEX = "1682238cf1e20a559517ca5c3a39db31deadbeef"
BASE64 = b64encode(bytes.fromhex(HEX)).decode()
BASE32 = "C2BCHDHR4IFFLFIXZJODUOO3GHPK3PXP"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", ""),
        (BASE32, f"sha1:{BASE32}"),
        (f"sha1:{BASE32}", f"sha1:{BASE32}"),
        (f"SHA-1:{BASE32.lower()}", f"sha1:{BASE32}"),
        (HEX, f"sha1:{BASE32}"),
        (f"sha1:{HEX}", f"sha1:{BASE32}"),
        (BASE32.lower(), f"sha1:{BASE32}"),
        *((f"{name}{BASE64}", f"sha1:{BASE32}") for name in ("", "sha1:")),
        (f"sha1:{BASE64.rstrip('=')}", f"sha1:{BASE32}"),
        (HEX[:32], f"md5:{HEX[:32]}"),
        ("sha-256:" + "0" * 64, "sha256:" + "0" * 64),
        ("0" * 64, "sha256:" + "0" * 64),
        ("SHA-256:" + "AB" * 32, "sha256:" + "ab" * 32),
        ("AB" * 32, "sha256:" + "ab" * 32),
        ("md5:" + HEX[:32].upper(), f"md5:{HEX[:32]}"),
        ("58670", "58670"),
    ],
)
def test_digest(written: str, expected: str) -> None:
    """However a digest is written, it is compared as one."""
    assert expected == normal_digest(written)


@given(st.integers(0, 2_000_000_000))
def test_second_comes_back(seconds: int) -> None:
    """The 14 digits of a moment are that moment."""
    assert seconds * 1_000_000 == moment(timestamps.digits(seconds * 1_000_000))


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("1996", "1996-01-01T00:00:00"),
        ("199605", "1996-05-01T00:00:00"),
        ("19960517", "1996-05-17T00:00:00"),
        ("1996051709", "1996-05-17T09:00:00"),
        ("199605170903", "1996-05-17T09:03:00"),
    ],
)
def test_moment_of_few_digits(digits: str, expected: str) -> None:
    """A part that is left out is the first of its kind."""
    assert micros(expected) == moment(digits)


@pytest.mark.parametrize(
    ("urlkey", "expected"),
    [
        ("org,example)/a", "http://example.org/a"),
        ("org,example,www:81)/", "http://www.example.org:81/"),
        ("example.org/a", "http://example.org/a"),
        ("dns:www.archive.org", "dns:www.archive.org"),
        ("", ""),
    ],
)
def test_url_of_a_key(urlkey: str, expected: str) -> None:
    """A key stands for a URL where there is no other."""
    assert expected == url_of(urlkey)
