"""Label a cross in a browser, one segment after the other, and save it as a submission."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbce_spark.annotation.labels.majority import master, merge
from dbce_spark.annotation.markup import cross_tasks, offline_task, submission
from dbce_spark.annotation.markup.cross_tasks import CrossTask
from dbce_spark.model import Label
from tests.support.builders import CONFIG, archive, http, record
from tests.support.builders import read as read_archive
from tests.support.chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

HIDDEN = "<p style='display: none'>Only for machines</p>"


def story(name: str) -> str:
    text = "".join(f"<p>{' '.join(f'{name}{at}{word}' for word in range(9))}</p>" for at in range(3))
    menu = "".join(f"<li><a href='http://127.0.0.1:9/{at}'>About entry {at} and more</a></li>" for at in range(4))
    return (
        "<html><body onload='document.body.textContent = 1'><header><nav><div><b></b><em></em><ul>"
        f"{menu}</ul></div></nav></header><main><article><section><h1>{name}s</h1>{text}{HIDDEN}</section></article></main>"
        "<script>document.body.textContent = ''</script></body></html>"
    )


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> CrossTask:
    records = [record(http(story(name)), url=f"http://a.example/{name}.html") for name in ("seal", "storm", "crane")]
    path = archive(tmp_path_factory.mktemp("crawl") / "crawl.warc", *records)
    return next(cross_tasks.annotate_crosses(read_archive(path), CONFIG))


def test_a_task_is_one_file_without_arms(cross: CrossTask, tmp_path: Path) -> None:
    """The pages in the file lie in sandboxes that let them run nothing; the index links to it."""
    offline_task.write(str(tmp_path), [cross])
    (file,) = (one for one in tmp_path.iterdir() if one.name != "index.html")
    text = file.read_text("utf-8")

    assert text.count("<iframe") == text.count("sandbox") == 3
    assert 'sandbox="allow-same-origin"' in text
    assert "allow-scripts" not in text
    assert "document.body.textContent" not in text
    assert f'<a href="{file.name}">{cross.sheet.url}</a>' in (tmp_path / "index.html").read_text("utf-8")


@pytest.fixture
def page(cross: CrossTask, tmp_path: Path) -> "Iterator[Page]":
    path = tmp_path / "cross.html"
    path.write_text(offline_task.document(cross), encoding="utf-8")
    with chromium() as browser:
        opened = browser.new_page()
        opened.goto(path.as_uri())
        opened.wait_for_function("document.querySelector('output').textContent")
        yield opened


@pytest.mark.browser
def test_a_cross_is_labelled_by_keyboard_and_saved_as_a_submission(
    page: "Page", cross: CrossTask, tmp_path: Path
) -> None:
    """Hidden text is boilerplate already; four keys tag the menu, four the story, and one of them is undone."""
    texts = cross.sheet.texts
    assert page.text_content("output") == f"1 of {len(texts)}"
    for pressed in "1111" + "33u333":
        page.keyboard.press(pressed)
    assert page.text_content("output") == f"{len(texts)} of {len(texts)}"
    page.fill("input", "anna")
    with page.expect_download() as found:
        page.click("[data-save]")
    path = str(tmp_path / "anna.jsonl")
    found.value.save_as(path)
    (one,) = submission.read(path)

    assert merge({cross.sheet.page: master(cross.sheet)}, [one], minimum=1, excluded={}).pages[0].tags == one.tags
    assert [tag.word if tag is not None else "" for tag in one.tags] == ["boilerplate"] * 4 + ["content"] * 4 + [
        "boilerplate"
    ]


@pytest.mark.browser
def test_what_was_tagged_is_there_when_the_page_is_opened_again(page: "Page") -> None:
    """No tag is lost when the browser is closed."""
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.reload()
    page.wait_for_function("document.querySelector('output').textContent")

    assert str(page.text_content("output")).startswith("3 of ")


@pytest.mark.browser
def test_the_neighbours_stand_beside_it_one_at_a_time(page: "Page") -> None:
    """The first neighbour is shown; a click shows another."""
    assert page.locator("iframe:visible").count() == 2
    page.click("[data-arm=down]")

    assert page.get_attribute("[data-arm=down]", "aria-pressed") == "true"
    assert page.locator("iframe[data-of=down]").is_visible()
    assert not page.locator("iframe[data-of=up]").is_visible()


def test_the_keys_are_those_of_the_manual() -> None:
    """Key 1 is bad, 2 uncertain, 3 good."""
    assert {label.word: key for label, key in offline_task.KEYS.items()} == {
        "boilerplate": "1",
        "undecided": "2",
        "content": "3",
    }
    assert set(offline_task.KEYS) == set(Label)
