"""Run `dbce rules` over archives."""

import tomllib
from pathlib import Path

import pytest

from dbce_spark.commands.cli import main
from tests.support.builders import archive, http, record


def page(number: int) -> str:
    """Return the HTML of a page of ten blocks of its own, below a menu of ten."""
    blocks = [f"menu {'x' * at}" for at in range(1, 11)] + [
        f"story {'ab'[number % 2]} {'y' * (9 * number + at)}" for at in range(9)
    ]
    return f"<title>Story {number}</title>" + "".join(f"<p>{one}</p>" for one in blocks)


def test_rules_of_an_archive_are_written_as_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six stories, each found by two URLs of one number, give a rule that keeps the number; the first line counts
    duplicates."""
    records = [
        record(http(page(number)), url=f"http://a.example/story?{feed}id={number}")
        for number in range(6)
        for feed in ("", "feed=1&")
    ]
    archive(tmp_path / "a.warc.gz", *records)

    assert 0 == main(["rules", str(tmp_path)])
    output = capsys.readouterr().out
    assert output.startswith(
        "# 12 documents; duplicates within their domain by request 0, response 0, titled 0, key 11\n"
    )
    assert {"keys": {"rules": [{"match": r"a\.example/story(\?|$)", "keep": ["id"]}]}} == tomllib.loads(output)


def test_rules_that_are_given_are_known_by_the_next_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run with the learned rules counts no duplicates by key."""
    archive(tmp_path / "a.warc.gz", *[record(http(page(at)), url=f"http://a.example/story?id={at}") for at in range(6)])
    main(["rules", str(tmp_path)])
    (tmp_path / "rules.toml").write_text(capsys.readouterr().out)

    assert 0 == main(["rules", str(tmp_path), "--urltree", str(tmp_path / "rules.toml")])
    assert "key 0\n" in capsys.readouterr().out
