"""Refuse bytes that are no state of a domain."""

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.streaming.urltree import domain_state
from dbce_spark.streaming.urltree.domain_tree import DomainTree
from tests.support.urltree_documents import CONFIG, config, document, domain


def refusal(data: bytes, *settings: str) -> str:
    with pytest.raises(OutputError) as caught:
        DomainTree.from_bytes(data, config(*settings))
    return str(caught.value)


def test_state_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the version, and what to do."""
    with monkeypatch.context() as patch:
        patch.setattr(domain_state, "VERSION", 7)
        data = domain([document("http://news.eu/a", "Text")]).to_bytes()

    assert "is of version 7, this program has 2: go on with the program that began" in refusal(data)


def test_state_of_another_hash_is_refused() -> None:
    """A state whose keys were made by another hash is refused."""
    said = refusal(domain([]).to_bytes(), "blocks.hash=md5")

    assert "hashed by xxh3, and blocks.hash is md5; set it back, or begin the stream anew with another" in said


def test_bytes_of_something_else_are_refused() -> None:
    """Bytes that do not begin with the name of the format are refused."""
    assert "is of version unknown" in refusal(b"{}")


def test_empty_domain_is_read_again() -> None:
    """A domain without documents is restored from its bytes."""
    again = DomainTree.from_bytes(domain([]).to_bytes(), CONFIG)

    assert (0, "news.eu") == (len(again), again._tree.domain)
