"""Tables and plot of streams beside the batch, from made results."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from lxml import etree

from benchmarks.__main__ import main
from dbce_spark.evaluation.scoring import facts, scores
from tests.support.fake_extractors import line, written
from tests.support.page_scores import made_scores, page

LINES = [line(f"{at}", url=f"http://news.eu/{at}") for at in range(3)]
F1 = {
    "dbce": [1.0, 0.5, 0.9],
    "dbce-site-pool": [0.8, 0.5, 1.0],
    "urltree-strict": [0.5, 0.5, 0.5],
    "urltree-strict-at-domain": [0.5, 0.5, 0.5],
}


def results(folder: Path, f1: Mapping[str, Sequence[float]]) -> str:
    """A folder of results of pages 0, 1 and so on."""
    made = made_scores([page(at) for at in range(len(next(iter(f1.values()))))], f1)
    scores.write(f"{folder}/scores.parquet", made)
    facts.write(f"{folder}/pages.parquet", made.pages)
    return str(folder)


def run(tmp_path: Path, **folders: str) -> int:
    options = [word for content, folder in folders.items() for word in (f"--{content}", folder)]
    return main(["stream-scores", written(tmp_path, LINES), *options, "--output", f"{tmp_path / 'plot.svg'}"])


def test_extractors_stand_beside_the_first_by_number_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal ones share a row, and the sites of the last numbers are shown one by one."""
    folder = results(tmp_path / "results", F1)

    assert 0 == run(tmp_path, article=folder, whole=folder)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert ["1: 1 page of 1 site", "2-4: 2 pages of 1 site", "all: 3 pages of 1 site"] == rows[0][2:]
    assert ["article", "dbce", "1.000", "0.700", "0.800"] == rows[2]
    assert ["article", "dbce-site-pool", "0.800<br>-0.200"] == rows[3][:3]
    assert rows[3][3].startswith("0.750<br>+0.050 (+0.000 to +0.100)")
    assert ["article", "urltree-strict, urltree-strict-at-domain"] == rows[4][:2]
    assert ["whole"] * 3 == [row[0] for row in rows[5:8]]
    assert ["news.eu", "2", *["0.700", "+0.050", "+0.10"] * 2] == rows[-1]


def test_the_plot_stands_by_itself(tmp_path: Path) -> None:
    """A column for each meaning of content, in which what lies close together has a panel of its own; every colour
    that is named is there."""
    folder = results(tmp_path / "results", F1)
    run(tmp_path, article=folder, whole=folder)
    drawn = (tmp_path / "plot.svg").read_text("utf-8")
    titles = re.findall("<title>(.*?)</title>", drawn)

    assert etree.fromstring(drawn.encode()).tag.endswith("svg")
    assert 2 == titles.count("dbce-site-pool, whole, pages 2-4: 0.750")
    assert 1 == titles.count("urltree-strict, urltree-strict-at-domain, article, pages 1: 0.500")
    assert set(re.findall(r"var\((--\w+)\)", drawn)) <= set(re.findall(r"(--\w+):", drawn))


def test_results_of_several_folders_are_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As when heuristics are measured later."""
    first = results(tmp_path / "first", {"dbce": F1["dbce"]})
    second = results(tmp_path / "second", {"urltree": F1["urltree-strict"]})
    options = ["--whole", first, second, "--output", f"{tmp_path / 'plot.svg'}"]

    assert 0 == main(["stream-scores", written(tmp_path, LINES), *options])
    assert "| whole | urltree | 0.500<br>-0.500 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("article", "whole", "message"),
    [
        ({"dbce": [1.0]}, {"dbce": [1.0]}, "not all extractors have scores of page 1 of made"),
        ({"dbce": [1.0] * 3}, {"urltree": [1.0] * 3}, "run the same extractors in the same order"),
    ],
)
def test_results_that_do_not_belong_together_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    article: dict[str, list[float]],
    whole: dict[str, list[float]],
    message: str,
) -> None:
    """Of other pages, or of other extractors."""
    status = run(tmp_path, article=results(tmp_path / "a", article), whole=results(tmp_path / "b", whole))

    assert status != 0
    assert message in capsys.readouterr().err


def test_no_results_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the options."""
    assert run(tmp_path) != 0
    assert "add --article DIR, --whole DIR or both" in capsys.readouterr().err
