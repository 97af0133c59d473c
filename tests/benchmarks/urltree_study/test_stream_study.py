"""Write the tables of the study."""

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from dbce_spark.files import jsonl
from tests.benchmarks.urltree_study.test_stream_runs import HTML


def tables(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each part."""
    parts = path.read_text().split("\n## ")[1:]
    return {
        part.partition("\n")[0]: [
            [cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")
        ]
        for part in parts
    }


def test_study_of_a_daily_has_all_parts(tmp_path: Path) -> None:
    """Each part is a table; without --only all are written."""
    output = tmp_path / "study.md"

    assert 0 == main(["urltree-study", "--documents", "40", "--every", "10", "--output", str(output)])
    found = tables(output)

    assert "# URL Tree on 40 documents of 1 domain" == output.read_text().partition("\n")[0]
    assert ["heuristics", "windows", "similarity", "kinds"] == list(found)
    assert {"`urltree-strict-support-20`", "`urltree-relaxed-at-domain-node-10`"} <= {
        row[0] for row in found["heuristics"]
    }
    assert {"all documents", "30 documents", "14 days"} <= {row[0] for row in found["windows"]}
    assert "0.0000" in found["similarity"][2][2]
    assert ["left out of", "fixed", "changing", "menu", "advert", "list", "footer", "content kept"] == found["kinds"][0]


def test_study_of_gold_pages_compares_extractors(tmp_path: Path) -> None:
    """Other extractors stand beside URL Tree; undated pages have no window of days."""
    gold = tmp_path / "gold.jsonl"
    jsonl.write(
        str(gold),
        (
            {
                "id": name,
                "site": "news.example",
                "html": HTML.format(name),
                "gold": f"A title\nSome words of text {name}",
            }
            for name in "abcdefghij"
        ),
    )
    output = tmp_path / "study.md"
    asked = ["--only", "windows", "--only", "kinds", "--extractors", "beautifulsoup"]

    assert 0 == main(["urltree-study", str(gold), *asked, "--output", str(output)])
    found = tables(output)

    assert ["all documents"] == [row[0] for row in found["windows"][2:]]
    assert ["`beautifulsoup`", "0.000", "0.000", "1.000"] == found["kinds"][-1]


def test_domains_of_few_gold_pages_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A stream of a page or two shows nothing; the error says what to give."""
    gold = tmp_path / "gold.jsonl"
    jsonl.write(str(gold), [{"id": "a", "site": "news.example", "html": HTML.format("a"), "gold": "A title"}])

    assert 0 != main(["urltree-study", str(gold), "--output", str(tmp_path / "study.md")])
    assert "gold.jsonl: no domain has 10 gold pages; give more files" in capsys.readouterr().err


def test_share_beyond_one_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The error names the value."""
    with pytest.raises(SystemExit, match="2"):
        main(["urltree-study", "--copies", "1.5", "--output", str(tmp_path / "study.md")])

    assert "1.5 is not between 0 and 1" in capsys.readouterr().err
