"""A figure that stands on several pages is the same on all of them."""

import re
from collections import Counter

from dbce_spark.dbce.classifier.classifier_file import load_classifier
from tests.support.code_blocks import ROOT


def rows(page: str, words: str) -> list[list[str]]:
    """List the rows of the table of a page whose head has these words: their cells."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("|") and words in line)
    table = lines[head + 2 : next(at for at in range(head, len(lines)) if not lines[at].startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_readme_has_the_scores_of_the_method() -> None:
    """Each of its rows is one of docs/quality.md, where they are measured."""
    ours, measured = (rows(page, "pages with 2 siblings or more (2,167)") for page in ("README.md", "docs/quality.md"))

    assert ours
    assert [] == [row for row in ours if row not in measured]


def test_the_plot_of_the_leaderboard_has_the_figures_of_its_table() -> None:
    """Each extractor that was run on whole pages has a dot, with the F1 and the milliseconds of its row."""
    plot = (ROOT / "docs/leaderboard.svg").read_text(encoding="utf-8")
    shown = re.findall(r"<title>(.+?): (\d\.\d+), ([\d.]+) ms</title>", plot)
    table = [row for row in rows("docs/leaderboard.md", "whole: F1") if row[1]]

    assert "(leaderboard.svg)" in (ROOT / "docs/leaderboard.md").read_text(encoding="utf-8")
    assert table
    assert sorted((row[0], row[1].split(" ")[0].strip("*"), row[-1].replace(",", "")) for row in table) == sorted(shown)


def test_the_plot_of_streams_has_the_figures_of_their_table() -> None:
    """Each extractor has a dot at each number of pages, for both meanings of content; those by DBCE have two."""
    page, plot = ((ROOT / f"docs/streaming.{kind}").read_text(encoding="utf-8") for kind in ("md", "svg"))
    head = next(line for line in page.splitlines() if line.startswith("| content |"))
    steps = [cell.partition(":")[0].strip() for cell in head.strip("|").split("|")[2:-1]]
    table = {
        f"{name}, {content}, pages {step}: {cell.partition('<br>')[0]}"
        for content, name, *cells in rows("docs/streaming.md", "| content |")
        for step, cell in zip(steps, cells[:-1], strict=True)
    }

    assert "(streaming.svg)" in page
    assert table
    assert table == set(re.findall(r"<title>(.+?, pages .+?)</title>", plot))


def test_the_classifier_was_trained_on_what_its_page_says() -> None:
    """The table has what the card of the shipped file has: pages of `X-read` are of X, and a row may name several sets;
    rows go from most pages to fewest. What a set is, is written by hand."""
    card = load_classifier("").card
    of_set: Counter[str] = Counter()
    for name, pages in card["sets"].items():
        of_set[name.removesuffix("-read")] += pages
    what = {names: text for names, _, text in rows("docs/classifier.md", "| set | pages | what |")}
    what |= dict.fromkeys(of_set.keys() - set(", ".join(what).split(", ")), "?")
    pages_of = {names: sum(of_set[name] for name in names.split(", ")) for names in what}
    expected = [
        f"{card['pages']:,} pages of {card['sites']:,} sites, {card['blocks']:,} blocks:",
        "",
        "| set | pages | what |",
        "|---|---|---|",
        *(
            f"| {names} | {pages:,} | {what[names]} |"
            for names, pages in sorted(pages_of.items(), key=lambda one: (-one[1], one[0]))
            if pages
        ),
    ]
    page = (ROOT / "docs/classifier.md").read_text(encoding="utf-8")
    section = page.partition("\n## Trained on\n\n")[2].splitlines()

    assert expected == section[: len(expected)], "\n".join(("docs/classifier.md should have:", "", *expected))
    assert "" == section[len(expected)]
    assert of_set.keys() == set(", ".join(what).split(", "))
    assert "?" not in what.values()
