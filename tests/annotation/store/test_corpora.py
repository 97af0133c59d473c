"""Keep several corpora in one store, apart from each other."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.annotation.markup import page_file, submission
from dbce_spark.annotation.store import (
    corpora,
    drafts,
    page_choice,
    page_import,
    sheet_import,
    store_export,
    stored_pages,
    stored_submissions,
    workbench_store,
)
from dbce_spark.annotation.store.corpora import StoredCorpus
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.page_choice import Order
from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.errors import ConfigError, InputError
from dbce_spark.model import Label
from tests.support.annotation_stores import ADA, BOB, SETTINGS, page, wanted, with_people
from tests.support.builders import CONFIG, archive, http, record


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A store of two people, with four pages of geese and ponds, and two of mills in a corpus of their own."""
    name = with_people(tmp_path, "ada", "bob")
    mills = [record(http(page(f"Mill {at}")), url=f"http://mills.example/{at}") for at in range(2)]
    of_mills = replace(SETTINGS, corpus="mills")
    page_import.add(
        name, page_import.read([archive(tmp_path / "mills.warc", *mills)], CONFIG), wanted(), CONFIG, of_mills
    )
    return name


@pytest.fixture
def opened(path: str) -> Iterator[Connection]:
    with closing(workbench_store.open_store(path)) as found:
        yield found


def submit(opened: Connection, account: int, number: str) -> None:
    found = stored_pages.get(opened, number)
    assert found
    stored_submissions.submit(opened, account, found, Draft(marks={0: Label.CONTENT}, revision=1))


def test_each_corpus_is_counted_by_itself(opened: Connection) -> None:
    """Pages, submissions, and those of the annotator who asks."""
    for account, number in zip((ADA, BOB), stored_pages.ids(opened, stored_pages.CORPUS, "mills"), strict=True):
        submit(opened, account, number)
    submit(opened, BOB, stored_pages.ids(opened, stored_pages.CORPUS, "main")[0])

    expected = [StoredCorpus("main", 4, 1, 0), StoredCorpus("mills", 2, 2, 1)]
    assert expected == corpora.list_corpora(opened, ADA)


@pytest.mark.parametrize(("corpus", "pages"), [("mills", 2), ("main", 4), ("", 6)])
def test_the_next_page_is_of_the_corpus_that_is_asked_for(opened: Connection, corpus: str, pages: int) -> None:
    """Until its pages are done; also where another page was begun."""
    own = stored_pages.ids(opened, stored_pages.CORPUS, corpus)
    begun = stored_pages.ids(opened, stored_pages.CORPUS, "main" if corpus == "mills" else "mills")[0]
    drafts.keep(opened, ADA, begun, Draft(marks={0: Label.CONTENT}, revision=1))
    given = []
    while number := page_choice.next_page(opened, ADA, Order.CHANCE, corpus):
        given.append(number)
        page_choice.skip(opened, ADA, number)

    assert pages == len(own)
    assert own == sorted(given)


def test_a_corpus_is_exported_without_the_others(path: str, opened: Connection, tmp_path: Path) -> None:
    """Its pages, submissions, and what was withdrawn of them."""
    main, mills = (stored_pages.ids(opened, stored_pages.CORPUS, name) for name in ("main", "mills"))
    for number in (*main, *mills):
        submit(opened, BOB, number)
    for number in (main[0], mills[0]):
        stored_submissions.withdraw(opened, BOB, number, ADA)
    summary = store_export.export(path, str(tmp_path / "out"), "mills", CONFIG)

    assert summary.startswith("2 pages and 1 submission")
    assert mills == [one.page for one in page_file.read(str(tmp_path / "out/pages.jsonl"))]
    of_mills = [one.page for one in submission.read(str(tmp_path / "out/submissions.jsonl"))]
    assert [mills[1]] == of_mills
    assert mills[0] in (tmp_path / "out/withdrawn.jsonl").read_text()
    assert main[0] not in (tmp_path / "out/withdrawn.jsonl").read_text()


def test_a_corpus_that_is_not_there_is_named_with_those_that_are(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'mils'.*it has: main, mills"):
        store_export.export(path, str(tmp_path / "out"), "mils", CONFIG)


def test_imported_pages_are_of_the_corpus_that_is_given(path: str, tmp_path: Path) -> None:
    """Whatever corpus they were exported from."""
    store_export.export(path, str(tmp_path / "out"), "mills", CONFIG)
    other, pages = str(tmp_path / "other.db"), [str(tmp_path / "out/pages.jsonl")]
    sheet_import.import_pages(other, pages, [], CONFIG, replace(SETTINGS, corpus="grain"))

    with closing(workbench_store.open_store(other)) as there:
        assert [StoredCorpus("grain", 2, 0, 0)] == corpora.list_corpora(there)


@pytest.mark.parametrize("name", ["", "a\x1bb", "m" * 61])
def test_a_corpus_has_a_name_that_can_be_shown(name: str) -> None:
    with pytest.raises(ConfigError, match="corpus is"):
        settings({"corpus": name})
