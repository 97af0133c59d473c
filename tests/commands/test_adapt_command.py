"""`dbce annotate adapt`: labels of one page correct all pages of its template."""

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from dbce_spark import config as configuration
from dbce_spark.annotation import labelled_pages
from dbce_spark.annotation.store import annotator_accounts, drafts, stored_pages, stored_submissions, workbench_store
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.commands.cli import main
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.model import Label
from dbce_spark.output.output_reader import open_output
from tests.support.annotation_stores import PASSWORD, SENTENCE
from tests.support.builders import archive, http, record

NOTE = "The editors of this almanac thank all who have sent them letters"
SITE, OTHER, PAGES = "geese.example", "http://ponds.example/", 4


def page(title: str, css_class: str = "") -> str:
    """An article, and a note of the site that looks like a part of it; the body may have a class."""
    paragraphs = "".join(f"<p>{title} {at}. {SENTENCE}</p>" for at in range(3))
    return (
        f"<html><head><title>{title}</title></head><body class='{css_class}'>"
        "<ul><li><a href=/>Home</a><li><a href=/b>Birds</a></ul>"
        f"<div class=story><h1>{title}</h1>{paragraphs}</div><div class=note>{NOTE} about {title}.</div>"
    )


@pytest.fixture
def extracted(tmp_path: Path) -> str:
    """The output of a crawl: PAGES of one site, and one of another site with the same template."""
    return extract(tmp_path, [page(f"Goose {at}") for at in range(PAGES + 1)])


def extract(tmp_path: Path, pages: Sequence[str]) -> str:
    """Extract a crawl of these pages of the site, the last one of the other site."""
    urls = [*(f"http://{SITE}/{at}" for at in range(len(pages) - 1)), OTHER]
    captures = [
        record(http(html), url=url, date=f"2020-01-0{at + 1}")
        for at, (html, url) in enumerate(zip(pages, urls, strict=True))
    ]
    crawl, output = archive(tmp_path / "crawl.warc", *captures), str(tmp_path / "before")
    assert main(["extract", crawl, "--output", output, "--engine", "local"]) == 0
    return output


def adapt(tmp_path: Path, before: str, *more: str) -> int:
    store, after = str(tmp_path / "labels.db"), str(tmp_path / "after")
    return main(["annotate", "adapt", store, "--in", before, "--output", after, "--pages", "1", *more])


def drop_notes(store: str) -> list[str]:
    """Submit what the model says of all pages, but the note as boilerplate. Return their sites."""
    with closing(workbench_store.open_store(store)) as opened:
        if not annotator_accounts.list_accounts(opened):
            annotator_accounts.add(opened, "ada", settings({}), password=PASSWORD, is_admin=False)
        pages = [*stored_pages.read_kind(opened, stored_pages.CORPUS)]
        for one in pages:
            notes = {at for at, unit in enumerate(one.units) if one.text[unit.start : unit.end].startswith(NOTE)}
            assert notes
            drafts.prelabel(opened, 1, one)
            revision = drafts.read_draft(opened, 1, one.page).revision + 1
            stored_submissions.submit(
                opened, 1, one, Draft(hidden=frozenset(notes), prelabelled=one.model, revision=revision)
            )
    return [one.site for one in pages]


def texts(output: str) -> dict[str, str]:
    rows = (
        row
        for batch in open_output(output).batches("extractions", ["url", "text"], rows=9)
        for row in batch.to_pylist()
    )
    return {row["url"]: row["text"] for row in rows}


def test_labels_of_some_pages_correct_the_others_of_their_site(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Round by round a page is added and labelled; each round learns from all labels, extracts their site alone anew,
    and accounts for it, by F1 where one labelled page can be held to another."""
    store, account = str(tmp_path / "labels.db"), tmp_path / "after/account.jsonl"
    assert adapt(tmp_path, extracted) == 0
    assert "  labels of it reach 3 other pages; its template has 4 pages, " in capsys.readouterr().out
    assert not account.exists()
    drop_notes(store)
    assert adapt(tmp_path, extracted) == 0
    assert re.search(rf"\| {SITE} \| 1 \| 0\.\d+ to 1\.000 \| - \| 4 \|", capsys.readouterr().out)
    assert {f"http://{SITE}/{at}" for at in range(PAGES)} == {*texts(str(tmp_path / "after/extracted"))}
    while drop_notes(store).count(SITE) < PAGES - 1:
        assert adapt(tmp_path, extracted, "--overwrite") == 0
    assert adapt(tmp_path, extracted, "--overwrite") == 0
    before, after = texts(extracted), texts(str(tmp_path / "after/extracted"))
    row = next(one for one in map(json.loads, account.read_text().splitlines()) if one["site"] == SITE)

    assert all(NOTE in text for text in before.values())
    assert {url: text[: text.index(f"\n{NOTE}")] for url, text in before.items() if SITE in url} == {
        url: text for url, text in after.items() if SITE in url
    }
    assert (PAGES - 1, PAGES, PAGES) == (len(row["labelled"]), row["pages"], row["changed"])
    assert row["f1"] == row["f1_by_others"] == [round(fmean(one["before"] for one in row["labelled"]), 4), 1.0]
    assert row["f1"][0] < 1
    assert row["words"] == [sum(len(text.split()) for url, text in of.items() if SITE in url) for of in (before, after)]
    assert PAGES - 1 <= load_classifier(str(tmp_path / "after/classifier.npz")).card["corrected"]["pages"]


def test_no_more_pages_are_promised_than_labels_reach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A class of its own on <body> makes all slots of a page new, though its template is that of the others. The page
    of the other site has the slots of two, and none of their labels."""
    classes = ["", "brent", "", "snow", ""]
    extracted = extract(tmp_path, [page(f"Goose {at}", name) for at, name in enumerate(classes)])
    capsys.readouterr()
    assert adapt(tmp_path, extracted, "--pages", "5") == 0
    promised = re.findall(r"  (\S+)  labels of it reach (.*?); its template has (.*?),", capsys.readouterr().out)

    assert sorted(promised) == [
        (f"http://{SITE}/0", "1 other page", "4 pages"),
        (f"http://{SITE}/1", "0 other pages", "4 pages"),
        (f"http://{SITE}/2", "1 other page", "4 pages"),
        (f"http://{SITE}/3", "0 other pages", "4 pages"),
        (OTHER, "0 other pages", "1 page"),
    ]


def last_lines(output: str) -> list[str]:
    """Return the lines behind those of the pages that were added, or behind the account."""
    lines = output.splitlines()
    before = [at for at, line in enumerate(lines) if line.startswith(("  http", "|"))]
    return lines[max(before, default=-1) + 1 :]


def test_the_last_lines_name_what_was_written_and_what_comes_next(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """So they do with and without pages that are added. Pages that wait for a label are counted with these, and the
    same command needs an option once the folder holds something."""
    store, after = str(tmp_path / "labels.db"), tmp_path / "after"
    steps: list[tuple[str, ...]] = [(), ("--pages", "0"), (), ("--overwrite",), ("--overwrite", "--pages", "0")]
    found = []
    capsys.readouterr()
    for at, options in enumerate(steps):
        if at in (2, 4):
            drop_notes(store)
        assert adapt(tmp_path, extracted, *options) == 0
        found.append(last_lines(capsys.readouterr().out))
    nothing = f"nothing was written to {after}: no page of the store has a label"
    written = f"written to {after}: classifier.npz, extracted/ and account.jsonl"
    use = f"to use the classifier: dbce extract ... --set label.classifier={after}/classifier.npz"
    again = f"(dbce annotate serve {store}), then give the same command again"

    assert found == [
        [nothing, f"next: label 1 page {again}"],
        ["no page was added", nothing, f"next: label 1 page {again}"],
        [written, f"next: label 1 page {again}, with --overwrite", use],
        [written, f"next: label 2 pages {again}", use],
        ["no page was added", written, "next: add pages to label, by the same command with --pages N", use],
    ]


def test_a_page_of_another_corpus_is_not_asked_for_again(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page is once in a store."""
    assert adapt(tmp_path, extracted, "--corpus", "first") == 0
    crawl, one = str(tmp_path / "crawl.warc"), ["--url-pattern", OTHER, "--min-words", "1"]
    store = str(tmp_path / "labels.db")
    assert main(["annotate", "add", store, "--archive", crawl, *one, "--corpus", "second"]) == 0
    assert adapt(tmp_path, extracted, "--corpus", "second") == 0
    said = capsys.readouterr().out
    assert 2 == len(set(re.findall("  (http://.*?)  labels", said)))
    assert "there already" not in said


def test_a_corpus_that_is_not_in_the_store_is_not_made_by_a_slip(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only an empty store takes any name; the error lists those that are there, and no page is added."""
    assert adapt(tmp_path, extracted, "--corpus", "round") == 0
    capsys.readouterr()

    assert adapt(tmp_path, extracted, "--corpus", "ruond") == 2
    assert "labels.db: no page of the corpus 'ruond' is in it; it has: round" in capsys.readouterr().err


def test_labels_of_another_output_correct_nothing(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output that has none of their sites is an error, and nothing is written."""
    adapt(tmp_path, extracted)
    (site,) = drop_notes(str(tmp_path / "labels.db"))
    url = "http://elsewhere.example/"
    crawl, other = archive(tmp_path / "other.warc", record(http(page("Swan")), url=url)), str(tmp_path / "other")
    main(["extract", crawl, "--output", other, "--engine", "local"])
    capsys.readouterr()

    assert adapt(tmp_path, other) == 2
    assert f"none of the labelled sites is in {other}, such as {site}; give the output" in capsys.readouterr().err
    assert not (tmp_path / "after").exists()


def test_an_output_is_not_adapted_into_itself(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files and those of the round would lie in one folder."""
    assert adapt(tmp_path, extracted, "--output", extracted, "--overwrite") == 2
    assert "--in and --output are both" in capsys.readouterr().err


def test_fewer_pages_than_asked_for_are_said_to_be_all(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And where none is left, nothing is said of pages to come."""
    capsys.readouterr()
    adapt(tmp_path, extracted, "--pages", "9")
    fewer = last_lines(capsys.readouterr().out)
    drop_notes(str(tmp_path / "labels.db"))
    adapt(tmp_path, extracted)
    none = last_lines(capsys.readouterr().out)

    assert "9 pages were asked for, and no other is left to label" == fewer[0]
    assert fewer[-1].startswith("next: label 5 pages (")
    assert ["no page is left to label", "written to", "to use"] == [none[0], none[1][:10], none[2][:6]]


def test_a_page_of_ones_own_choice_is_scored_by_the_classifier_of_the_output(tmp_path: Path, extracted: str) -> None:
    """So its labels teach, in a store of another classifier than the shipped one too."""
    own, store = str(tmp_path / "own.npz"), str(tmp_path / "labels.db")
    shipped = load_classifier("")
    save_classifier(replace(shipped, card={**shipped.card, "made": "anew"}), Path(own))
    by_it, crawl = f"label.classifier={own}", str(tmp_path / "crawl.warc")
    other = str(tmp_path / "by-own")
    assert main(["extract", crawl, "--output", other, "--engine", "local", "--set", by_it]) == 0
    assert main(["annotate", "add", store, "--archive", crawl, "--min-words", "1", "--set", by_it]) == 0
    drop_notes(store)

    assert adapt(tmp_path, other) == 0
    assert (tmp_path / "after/account.jsonl").exists()


def test_a_classifier_is_found_from_another_folder(
    tmp_path: Path, extracted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output has the whole path of one that was given by a part of it."""
    save_classifier(load_classifier(""), tmp_path / "own.npz")
    crawl, other, elsewhere = str(tmp_path / "crawl.warc"), str(tmp_path / "by-own"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    by_it = ["--set", "label.classifier=own.npz"]
    assert main(["extract", crawl, "--output", other, "--engine", "local", *by_it]) == 0
    monkeypatch.chdir(elsewhere)
    load_classifier.cache_clear()  # a later run is another process

    assert adapt(tmp_path, other) == 0


def test_a_labelled_page_is_held_to_what_the_others_teach(tmp_path: Path, extracted: str) -> None:
    """Never to its own labels: with one page of each site nothing is learned for either. What all labels teach, its own
    among them, stands apart."""
    adapt(tmp_path, extracted)
    drop_notes(store := str(tmp_path / "labels.db"))
    config = configuration.default()
    with closing(workbench_store.open_store(store)) as opened:
        (page,) = labelled_pages.read(opened, "", config)
    elsewhere = replace(page, labelled=replace(page.labelled, site="ponds.example"))
    alone, _ = labelled_pages.f1_before_and_after([page, elsewhere], config.label)
    of_four, *_ = labelled_pages.f1_before_and_after([page] * 4, config.label)

    assert alone.by_others is None
    assert alone.before < alone.after == of_four.by_others == 1


def test_a_page_that_is_undecided_as_a_whole_is_not_labelled(tmp_path: Path, extracted: str) -> None:
    """It teaches nothing and cannot be held to anything: an F1 of 1 would stand for it in the account."""
    adapt(tmp_path, extracted)
    with closing(workbench_store.open_store(str(tmp_path / "labels.db"))) as opened:
        annotator_accounts.add(opened, "ada", settings({}), password=PASSWORD, is_admin=False)
        (stored,) = stored_pages.read_kind(opened, stored_pages.CORPUS)
        stored_submissions.submit(opened, 1, stored, Draft(marks={0: Label.UNDECIDED}, revision=1))

        assert [] == labelled_pages.read(opened, "", configuration.default())


def test_what_readers_wrote_is_learned_to_be_dropped_unless_it_is_kept(tmp_path: Path, extracted: str) -> None:
    """A note that is marked as a reader's comment is no content, and is one where `label.comments` keeps such."""
    adapt(tmp_path, extracted)
    config = configuration.default()
    with closing(workbench_store.open_store(str(tmp_path / "labels.db"))) as opened:
        annotator_accounts.add(opened, "ada", settings({}), password=PASSWORD, is_admin=False)
        (stored,) = stored_pages.read_kind(opened, stored_pages.CORPUS)
        stored_submissions.submit(
            opened, 1, stored, Draft(marks={0: Label.CONTENT}, comments=frozenset({0}), revision=1)
        )
        kept = replace(config, label=replace(config.label, comments=True))
        (without,), (with_them,) = (labelled_pages.read(opened, "", one) for one in (config, kept))

    assert [False, True] == [bool(without.labelled.is_content.any()), bool(with_them.labelled.is_content.all())]


def test_what_an_earlier_round_wrote_stays(tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless it may be replaced: the error says how, and nothing is changed."""
    adapt(tmp_path, extracted)
    drop_notes(str(tmp_path / "labels.db"))
    adapt(tmp_path, extracted)
    before = (tmp_path / "after/account.jsonl").stat().st_mtime_ns
    capsys.readouterr()

    assert adapt(tmp_path, extracted) == 2
    assert (
        "after is not empty; give another --output, or --overwrite to replace classifier.npz, extracted/ and"
        in capsys.readouterr().err
    )
    assert before == (tmp_path / "after/account.jsonl").stat().st_mtime_ns


def test_an_output_that_cannot_be_corrected_is_refused(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that bit patterns label, and one that is corrected already."""
    patterns = str(tmp_path / "patterns")
    main(["extract", str(tmp_path / "crawl.warc"), "--output", patterns, "--set", "label.by=T002"])
    adapt(tmp_path, extracted)
    drop_notes(str(tmp_path / "labels.db"))
    adapt(tmp_path, extracted)
    capsys.readouterr()

    assert adapt(tmp_path, patterns) == 2
    assert "is labelled by T002; only a classifier can be corrected" in capsys.readouterr().err
    assert adapt(tmp_path, str(tmp_path / "after/extracted"), "--overwrite") == 2
    assert "is labelled by a classifier with corrections; give the output" in capsys.readouterr().err


def test_pages_that_another_classifier_scored_teach_nothing(
    tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their scores say nothing of this one: the error names the page."""
    store = str(tmp_path / "labels.db")
    adapt(tmp_path, extracted)
    drop_notes(store)
    with closing(workbench_store.open_store(store)) as opened, workbench_store.transaction(opened):
        opened.execute("UPDATE pages SET model = 'classifier:other'")
    capsys.readouterr()

    assert adapt(tmp_path, extracted) == 2
    assert "was scored by classifier:other, and the output is labelled by classifier:" in capsys.readouterr().err


def test_archives_that_are_gone_are_named(tmp_path: Path, extracted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The pages to label are read from them."""
    (tmp_path / "crawl.warc").unlink()
    capsys.readouterr()

    assert adapt(tmp_path, extracted) == 2
    assert "crawl.warc: nothing to read is there" in capsys.readouterr().err
