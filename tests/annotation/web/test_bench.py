"""Label archived pages in a browser."""

import json
import re
import threading
import time
from collections import Counter
from http.cookiejar import CookieJar
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

import pytest

from dbce_spark.annotation.markup import page_file, submission
from dbce_spark.annotation.store import (
    store_export,
    stored_pages,
    stored_submissions,
    workbench_store,
)
from dbce_spark.annotation.store.stored_pages import CORPUS
from dbce_spark.model import Label
from tests.support.annotation_stores import PASSWORD, SENTENCE, crawl, page, wanted, with_pages_of, with_people
from tests.support.builders import CONFIG, archive, http, record
from tests.support.workbench_browser import (
    archived,
    expect_painted,
    kept,
    log_in,
    next_page,
    press,
    shown_texts,
    submit,
    tags,
    wait,
)
from tests.support.workbenches import Served, served

CONTENT, BOILERPLATE, UNDECIDED = "content", "boilerplate", "undecided"


def submitted(path: str) -> list[submission.Submission]:
    """Return the submissions of the corpus of a store."""
    opened = workbench_store.open_store(path)
    try:
        return [*stored_submissions.read_submissions(opened)]
    finally:
        opened.close()


@pytest.mark.browser
def test_a_page_is_labelled_by_keyboard_alone(tmp_path: Path, context: Any) -> None:
    """From login to submission, keys alone tag all as boilerplate, then the article as content, and a part of it as
    undecided."""
    path = with_people(tmp_path, "ada")
    with served(path) as one:
        window = context.new_page()
        window.goto(one.address)
        window.wait_for_selector("input[name=name]:focus")
        window.keyboard.type("ada")
        press(window, "Tab")
        window.keyboard.type(PASSWORD)
        press(window, "Enter")
        window.wait_for_url(f"{one.address}/")
        window.goto(f"{one.address}/next")
        wait(window)
        press(window, "ArrowDown", *["ArrowLeft"] * 9, "1")
        assert {BOILERPLATE} == {*tags(window)}
        press(window, *["ArrowRight"] * 9, "ArrowLeft", *["ArrowDown"] * 2)
        press(window, "ArrowLeft", "3", "ArrowRight", "2")
        found = tags(window)
        assert {BOILERPLATE, CONTENT, UNDECIDED} == {*found}
        assert max(Counter(found), key=Counter(found).__getitem__) == CONTENT
        expect_painted(window, found)
        press(window, "z")
        assert UNDECIDED not in tags(window)
        press(window, "y")
        kept(window)
        submit(window)

    assert [found] == [[tag.word for tag in one.tags if tag is not None] for one in submitted(path)]


@pytest.mark.browser
def test_what_readers_wrote_is_marked_by_a_key_of_its_own(tmp_path: Path, context: Any) -> None:
    """5 paints the piece in a colour of its own; it is submitted as content that readers wrote."""
    path = with_people(tmp_path, "ada")
    with served(path) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", *["ArrowLeft"] * 9, "3", *["ArrowRight"] * 9, "5")
        found = tags(window)
        assert {"comment", CONTENT} == {*found}
        expect_painted(window, found)
        assert "all tagged" == window.inner_text("#count")
        kept(window)
        submit(window)

    (made,) = submitted(path)
    assert [at for at, tag in enumerate(found) if tag == "comment"] == [*made.comments]
    assert {Label.CONTENT} == {*made.tags}


@pytest.mark.browser
def test_a_page_is_labelled_by_mouse_alone(tmp_path: Path, context: Any) -> None:
    """Pointing shows the block, the menu tags it, and a brush from the toolbar tags what is clicked."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        frame = archived(window)
        frame.hover("h1")
        frame.wait_for_selector("[data-dbce-aim]")
        frame.click("h1", button="right")
        window.click("#menu button[data-tag=content]")
        window.click("[data-act=brush][data-tag=boilerplate]")
        frame.click("footer p")
        frame.click("h1 + p")
        window.wait_for_function("() => workbench.marks.size === 3")
        kept(window)

        found = tags(window)
        assert {CONTENT, BOILERPLATE, ""} == {*found}
        expect_painted(window, found)
        window.click("[data-act=undo]")
        window.click("[data-act=undo]")
        assert {CONTENT, ""} == {*tags(window)}


@pytest.mark.browser
@pytest.mark.parametrize("digit", ["Digit3", "Shift+Numpad3"])
def test_a_digit_tags_from_the_menu_and_closes_it(tmp_path: Path, context: Any, digit: str) -> None:
    """Digits of a number pad do as well."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        archived(window).click("h1", button="right")
        window.wait_for_selector("#menu")
        press(window, digit)
        window.wait_for_function("() => workbench.marks.size === 1")

        assert not window.is_visible("#menu")


@pytest.mark.browser
def test_a_page_looks_as_it_was_archived(tmp_path: Path, context: Any) -> None:
    """Its style sheet, with its imports, its pictures and its frame are shown."""
    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        opened = workbench_store.open_store(one.store)
        (number,) = [found.page for found in stored_pages.read_kind(opened, CORPUS) if found.url.endswith("/one")]
        opened.close()
        window.goto(f"{one.address}/pages/{number}")
        wait(window)
        archived(window).wait_for_load_state()  # it can be tagged before its pictures are there
        shown = archived(window).evaluate(
            """() => [getComputedStyle(document.querySelector("h1")).color, document.querySelector("img").naturalWidth,
                      getComputedStyle(document.querySelector("main")).backgroundImage.includes("dot.png")]"""
        )
        (inner,) = archived(window).child_frames

        assert ["rgb(18, 52, 86)", 1, True] == shown
        assert "Framed" == inner.inner_text("p")
        assert 1 == inner.evaluate("document.querySelector('img').naturalWidth")


@pytest.mark.browser
def test_what_a_page_hides_is_boilerplate_by_itself(tmp_path: Path, context: Any) -> None:
    """Hidden text within content is boilerplate as well; the list of texts shows it, where it can be tagged after
    all."""
    hidden = "<p style='display:none'>Never seen</p><p style='position:absolute;left:-9999px'>Far away</p>"
    html = page("A page with a cellar", extra=f"<section>{hidden}<p style='opacity:0'>Glass</p></section>")
    path = with_pages_of(tmp_path, [archive(tmp_path / "a.warc", record(http(html)))], wanted(), "ada")
    with served(path) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", *["ArrowLeft"] * 9, "3", *["ArrowRight"] * 9, "t")
        window.wait_for_selector("#texts li.hidden")

        assert ["Never seen", "Far away", "Glass"] == shown_texts(window, "#texts li.hidden")
        assert 3 == Counter(tags(window))[BOILERPLATE]
        window.click("text=Far away")
        press(window, "2")
        assert {BOILERPLATE: 2, UNDECIDED: 1} == {
            tag: count for tag, count in Counter(tags(window)).items() if tag != CONTENT
        }


@pytest.mark.browser
def test_what_a_page_folds_is_shown_unfolded(tmp_path: Path, context: Any) -> None:
    """A reader unfolds it with one click, one of several that exclude each other too; what is hidden in it stays so."""
    folded = "".join(
        f"<details name=questions><summary>Question {at}</summary><p>Answer {at}</p><p hidden>Never {at}</p></details>"
        for at in range(2)
    )
    crawled = archive(tmp_path / "a.warc", record(http(page("Questions", extra=folded))))
    with served(with_pages_of(tmp_path, [crawled], wanted(), "ada")) as one:
        window = next_page(context, one, "ada")
        press(window, "t")
        window.wait_for_selector("#texts li.hidden")

        assert ["Never 0", "Never 1"] == shown_texts(window, "#texts li.hidden")
        assert [True, True] == [
            one.is_visible() for one in archived(window).query_selector_all("details p:not([hidden])")
        ]


@pytest.mark.browser
def test_the_question_for_pieces_without_a_tag_leads_to_the_first(tmp_path: Path, context: Any) -> None:
    """Wherever one stands; Escape leaves one there."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        press(window, *["ArrowDown"] * 4, "3", "Control+Enter")
        window.wait_for_selector("#sure[open]")
        press(window, "Escape")
        stayed = window.evaluate("workbench.segment")
        press(window, "Control+Enter")
        window.click("#sure button[value=look]")
        window.wait_for_function("() => workbench.segment === 0")

    assert 3 == stayed


@pytest.mark.browser
def test_nothing_is_lost_when_server_or_browser_is_killed(tmp_path: Path, browser: Any, context: Any) -> None:
    """Tags given while the server is away reach it when it is back, and another browser shows them."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", "1", "ArrowDown", "2")
        kept(window)
        one.kill()
        press(window, "ArrowDown", "3")
        window.wait_for_selector("body[data-kept=away]", state="attached")
        press(window, "ArrowDown", "1")
        one.start()
        kept(window)
        before = tags(window)
        context.close()
        other = browser.new_context()
        window = next_page(other, one, "ada")
        after = tags(window)
        other.close()

    assert [BOILERPLATE, UNDECIDED, CONTENT, BOILERPLATE] == [tag for tag in before if tag]
    assert before == after


@pytest.mark.browser
def test_a_page_that_has_no_size_yet_is_not_all_hidden(tmp_path: Path, context: Any) -> None:
    """The workbench looks for what a reader cannot see when the frame of the page has a size, however late that is."""
    context.add_init_script(
        "const none = new CSSStyleSheet(); none.replaceSync('#page { width: 0 !important; height: 0 !important }');"
        "document.adoptedStyleSheets = [none];"
    )
    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        window.goto(f"{one.address}/next")
        window.wait_for_function("() => frames.length === 1")
        window.wait_for_timeout(500)

        assert window.get_attribute("body", "data-ready") is None
        window.evaluate("document.adoptedStyleSheets = []")
        wait(window)
        assert not any(tags(window))


@pytest.mark.browser
def test_a_key_before_the_page_is_there_leads_to_the_piece_that_it_shows(tmp_path: Path, context: Any) -> None:
    """Its pink and its tag are on the archived page as soon as that can show them."""
    held: list[Any] = []
    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        window.route("**/frame.js", lambda route: held.append(route))
        window.goto(f"{one.address}/next", wait_until="commit")
        window.wait_for_function("() => globalThis.workbench")
        while not held:
            window.wait_for_timeout(50)
        press(window, "ArrowDown", "3")
        held[0].continue_()
        wait(window)
        expect_painted(window, tags(window))

        assert [CONTENT] == [tag for tag in tags(window) if tag]
        assert archived(window).wait_for_selector("[data-dbce-aim]")


@pytest.mark.browser
def test_a_page_is_submitted_once_however_often_the_keys_are_pressed(tmp_path: Path, context: Any) -> None:
    """Keys that are pressed again while the server takes the submission send no other one."""
    path = with_people(tmp_path, "ada")
    with served(path) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", *["ArrowLeft"] * 9, "3")
        submit(window, times=3)
    opened = workbench_store.open_store(path)
    (count,) = opened.execute("SELECT count(*) FROM submissions").fetchone()
    opened.close()

    assert 1 == count


def tagged_while_away(context: Any, one: Served) -> str:
    """Tag a segment of a page as ada, whose tab is closed while the server is away; return the page's address."""
    window = next_page(context, one, "ada")
    address: str = window.url
    one.kill()
    press(window, "ArrowDown", "3")
    window.wait_for_selector("body[data-kept=away]", state="attached")
    window.close()
    one.start()
    return address


@pytest.mark.browser
def test_what_only_the_browser_has_is_there_after_both_were_killed(tmp_path: Path, context: Any) -> None:
    """A tab that is closed while the server is away, and opened again when it is back, keeps its tags."""
    with served(with_people(tmp_path, "ada")) as one:
        address = tagged_while_away(context, one)
        window = context.new_page()
        window.goto(address)
        wait(window)
        kept(window)

        assert [CONTENT] == [tag for tag in tags(window) if tag]


@pytest.mark.browser
@pytest.mark.parametrize(("chosen", "expected"), [("there", [BOILERPLATE]), ("here", [CONTENT] * 3)])
def test_tags_that_a_browser_has_left_replace_those_of_another_only_if_chosen(
    tmp_path: Path, browser: Any, context: Any, chosen: str, expected: list[str]
) -> None:
    """The left ones are asked about, though more were changed there; a key that closes the question answers nothing."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        address = window.url
        one.kill()
        press(window, *["ArrowDown", "3"] * 3)
        window.wait_for_selector("body[data-kept=away]", state="attached")
        window.close()
        one.start()
        other = browser.new_context()
        elsewhere = log_in(other, one, "ada")
        elsewhere.goto(address)
        wait(elsewhere)
        press(elsewhere, "ArrowDown", "1")
        kept(elsewhere)
        window = context.new_page()
        window.goto(address)
        wait(window)
        before = [tag for tag in tags(window) if tag]
        press(window, "Escape")
        window.click(f"#which button[value={chosen}]")
        kept(window)
        window.reload()
        wait(window)
        elsewhere.reload()
        wait(elsewhere)
        after = [[tag for tag in tags(each) if tag] for each in (window, elsewhere)]
        is_asked = window.is_visible("#which")
        other.close()

    assert ([BOILERPLATE], [expected, expected], False) == (before, after, is_asked)


@pytest.mark.browser
def test_tags_given_while_the_server_was_away_replace_none_of_another_browser(
    tmp_path: Path, browser: Any, context: Any
) -> None:
    """A window that stayed open is refused when the server is back, though it has made more changes."""
    with served(with_people(tmp_path, "ada")) as one:
        window = next_page(context, one, "ada")
        other = browser.new_context()
        elsewhere = log_in(other, one, "ada")
        elsewhere.goto(window.url)
        wait(elsewhere)
        context.set_offline(True)
        press(window, *["ArrowDown", "3"] * 6)
        window.wait_for_selector("body[data-kept=away]", state="attached")
        press(elsewhere, "ArrowDown", "1")
        kept(elsewhere)
        context.set_offline(False)
        window.wait_for_selector("body[data-kept=stale]", state="attached")
        elsewhere.reload()
        wait(elsewhere)
        found = [tag for tag in tags(elsewhere) if tag]
        other.close()

    assert [BOILERPLATE] == found


@pytest.mark.browser
def test_a_page_that_could_not_be_submitted_is_not_submitted_later(tmp_path: Path, context: Any) -> None:
    """Its status says so, also when all is kept, until it is submitted again."""
    path = with_people(tmp_path, "ada")
    with served(path) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", *["ArrowLeft"] * 9, "3")
        kept(window)
        one.kill()
        press(window, "Control+Enter")
        window.wait_for_selector("body[data-kept=away]", state="attached")
        press(window, "ArrowRight", "2")
        one.start()
        kept(window)
        said, early = window.inner_text("#saved"), submitted(path)
        submit(window)

    assert ("Everything is kept · Not submitted yet: submit again.", []) == (said, early)
    assert 1 == len(submitted(path))


@pytest.mark.browser
def test_what_only_the_browser_has_is_of_its_store(tmp_path: Path, context: Any) -> None:
    """Another store at the same address, with an account of the same name, gets nothing of it; and who is logged in to
    one is not logged out by the other."""
    (tmp_path / "other").mkdir()
    other = with_pages_of(tmp_path / "other", [crawl(tmp_path / "crawl.warc")], wanted(), "ada")
    with served(with_people(tmp_path, "ada")) as one:
        address, first = tagged_while_away(context, one), one.store
        one.kill()
        one.store = other
        one.start()
        log_in(context, one, "ada").close()
        window = context.new_page()
        window.goto(address)
        wait(window)
        assert CONTENT not in tags(window)
        one.kill()
        one.store = first
        one.start()
        window.reload()
        wait(window)

        assert CONTENT in tags(window)


@pytest.mark.browser
def test_what_only_the_browser_has_is_of_its_annotator(tmp_path: Path, context: Any) -> None:
    """The next person at the same computer sees nothing of it."""
    with served(with_people(tmp_path, "ada", "bob")) as one:
        address = tagged_while_away(context, one)
        context.clear_cookies()
        window = log_in(context, one, "bob")
        window.goto(address)
        wait(window)

        assert CONTENT not in tags(window)


@pytest.mark.browser
def test_a_server_that_fails_is_not_asked_without_a_pause(tmp_path: Path, context: Any) -> None:
    """A draft that it could not keep is sent again after a second and a half, and nothing is lost."""
    moments: list[float] = []
    is_seen = threading.Event()

    def fail_twice(route: Any) -> None:
        moments.append(time.monotonic())
        if is_seen.is_set() and len(moments) > 2:
            route.continue_()
        else:
            route.fulfill(status=500)

    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        # Before the page is there: a request that follows at once upon a new route can escape it.
        window.route("**/draft", fail_twice)
        window.goto(f"{one.address}/next")
        wait(window)
        press(window, "ArrowDown", "3")
        window.wait_for_selector("body[data-kept=away]", state="attached")
        is_seen.set()
        kept(window)
        window.reload()
        wait(window)

        assert [CONTENT] == [tag for tag in tags(window) if tag]
    # The next one is sent when the pause after the answer is over, so that a slow machine only lengthens this.
    assert len(moments) > 2
    assert all(after - before > 1.4 for before, after in pairwise(moments))


@pytest.mark.browser
def test_a_server_that_never_answers_is_asked_again(tmp_path: Path, context: Any) -> None:
    """It takes the first draft and is silent. Here the workbench waits for a third of a second, not half a minute."""
    held: list[Any] = []

    def hold_first(route: Any) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        window.add_init_script(
            "const real = AbortSignal.timeout; AbortSignal.timeout = () => real.call(AbortSignal, 300)"
        )
        window.route("**/draft", hold_first)
        window.goto(f"{one.address}/next")
        wait(window)
        press(window, "ArrowDown", "3")
        kept(window)

        assert 1 == len(held)


@pytest.mark.browser
def test_the_models_labels_are_where_one_starts_if_one_asks(tmp_path: Path, context: Any) -> None:
    """The least certain piece comes first, a tag on a container replaces the model's labels below it, and the
    submission records the model."""
    path = with_people(tmp_path, "ada")
    with served(path) as one:
        window = log_in(context, one, "ada")
        window.goto(f"{one.address}/next?order=doubt")
        wait(window)
        number = window.url.rpartition("/")[2]
        window.click("[data-act=prelabel]")
        window.wait_for_selector("#count:has-text('all tagged')")
        opened = workbench_store.open_store(path)
        found = stored_pages.get(opened, number)
        opened.close()
        assert found is not None
        assert [label.word for label in found.labels] == tags(window)
        press(window, "n")
        aimed = window.evaluate("workbench.segment")
        doubts = [abs(unit.score - 0.5) for unit in found.units]
        assert min(doubts) == doubts[aimed]
        press(window, *["ArrowLeft"] * 9, "2")
        assert {UNDECIDED} == {*tags(window)}
        kept(window)
        submit(window)

    assert [found.model] == [one.prelabelled for one in submitted(path)]


@pytest.mark.browser
def test_the_tutorial_answers_each_page_in_colours(tmp_path: Path, context: Any) -> None:
    """Agreement is light, a difference has the colour of the right tag, and after eleven pages the tutorial ends."""
    with served(with_people(tmp_path, "ada")) as one:
        window = log_in(context, one, "ada")
        opened = workbench_store.open_store(one.store)
        lessons = [*stored_pages.read_kind(opened, stored_pages.TUTORIAL)]
        opened.close()
        for lesson in lessons:
            window.goto(f"{one.address}/tutorial")
            wait(window)
            assert f"Tutorial {lesson.position} of 11" in window.inner_text(".about")
            press(window, "ArrowDown", *["ArrowLeft"] * 9, "1")
            given = tags(window)
            kept(window)
            press(window, "Control+Enter")
            window.wait_for_url(f"{one.address}/tutorial/{lesson.page}")
            wait(window)
            reference = [tag.word for tag in lesson.reference if tag is not None]
            expected = [
                f"light-{right}" if tag == right else right for tag, right in zip(given, reference, strict=True)
            ]
            expect_painted(window, expected)
        window.goto(f"{one.address}/tutorial")

        assert "You have done the tutorial" in window.inner_text("main")


@pytest.mark.browser
def test_a_page_of_six_thousand_words_in_small_pieces_is_painted_whole(tmp_path: Path, context: Any) -> None:
    """Two thousand pieces are tagged at once and one by one."""
    rows = "".join(f"<tr><td>{at}</td><td>{SENTENCE[:22]}</td></tr>" for at in range(1000))
    html = f"<!DOCTYPE html><title>Long</title><body><table>{rows}</table></body>"
    path = with_pages_of(tmp_path, [archive(tmp_path / "a.warc", record(http(html)))], wanted(max_words=7000), "ada")
    with served(path) as one:
        window = next_page(context, one, "ada")
        press(window, "ArrowDown", *["ArrowLeft"] * 5, "1", *["ArrowRight"] * 5, "ArrowDown", "3", "End")
        kept(window)

        assert {BOILERPLATE: 1999, CONTENT: 1} == Counter(tags(window))
        expect_painted(window, tags(window))


WARCS = (
    "netarkivet.dk/20090706-arcfile_withredirects.arc",
    "quotes.toscrape.com/20241007-scrapy.warc.gz",
    "fiscalitefrg.com/20120914-frg.warc.gz",
    "wikipedia/20120119-main-page.warc.gz",
    "santa-monica/rec-20190709022900192133-psuedos-MacBook-Pro.local.warc.gz",
)


@pytest.mark.browser
@pytest.mark.data
def test_two_people_label_four_real_pages_and_the_server_is_killed_between(
    tmp_path: Path, browser: Any, shared_data: Path
) -> None:
    """There are eight submissions, one a page and person, whole, of the pages' own texts."""
    archives = [str(shared_data / "warc" / name) for name in WARCS]
    path = with_pages_of(tmp_path, archives, wanted(min_words=120, sample=4), "ada", "bob")
    people = {name: browser.new_context(viewport={"width": 1366, "height": 768}) for name in ("ada", "bob")}
    with served(path) as one:
        windows = {name: log_in(made, one, name) for name, made in people.items()}
        for nth in range(4):
            for name, window in windows.items():
                window.set_default_timeout(60_000)
                window.goto(f"{one.address}/next")
                wait(window)
                press(window, "ArrowDown")
                height = window.evaluate("workbench.outline.height(workbench.segment)")
                press(window, *["ArrowLeft"] * height, "1", *["ArrowRight"] * height)
                press(window, *["ArrowDown", "3"] * (2 if name == "ada" else 3))
                if nth == 2 and name == "ada":
                    one.kill()
                    press(window, "ArrowDown", "2")
                    one.start()
                kept(window)
                expect_painted(window, tags(window))
                submit(window)
    for made in people.values():
        made.close()
    store_export.export(path, str(tmp_path / "out"), "", CONFIG)
    sheets = {each.page: each for each in page_file.read(str(tmp_path / "out" / "pages.jsonl"))}
    found = [*submission.read(str(tmp_path / "out" / "submissions.jsonl"))]

    assert (4, 8) == (len(sheets), len({(each.page, each.annotator) for each in found}))
    for each in found:
        assert sheets[each.page].text_digest == each.text_digest
        assert None not in each.tags
        assert {Label.CONTENT, Label.BOILERPLATE} <= {*each.tags}


def test_ten_annotators_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each labels all four pages, with five drafts a page, on one process."""
    names = [f"annotator {at}" for at in range(10)]
    path = with_people(tmp_path, *names)
    wrong: list[str] = []
    with served(path) as one:
        threads = [threading.Thread(target=_label_all, args=(one, name, wrong)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = submitted(path)

    assert [] == wrong
    assert 40 == len(found)
    assert {4} == {*Counter(each.annotator for each in found).values()}
    for each in found:
        assert {Label.CONTENT} == {*each.tags}


def _label_all(served: Served, name: str, wrong: list[str]) -> None:
    """Label all pages with the requests of a browser."""
    try:
        browser = build_opener(HTTPCookieProcessor(CookieJar()))
        text = browser.open(f"{served.address}/login").read().decode()
        form = {"name": name, "password": PASSWORD, "csrf": _token(text)}
        browser.open(f"{served.address}/login", urlencode(form).encode()).read()
        for _ in range(4):
            with browser.open(f"{served.address}/next") as answer:
                number, token = answer.url.rpartition("/")[2], _token(answer.read().decode())
            for revision in range(1, 6):
                _send(browser, f"{served.address}/api/pages/{number}/draft", token, "boilerplate", revision, "PUT")
            _send(browser, f"{served.address}/api/pages/{number}/submission", token, "content", 6, "POST")
    except Exception as error:  # a thread's error is raised where the test ends
        wrong.append(repr(error))


def _token(text: str) -> str:
    found = re.search(r'(?:name="csrf" value|data-csrf)="([^"]+)"', text)
    assert found is not None
    return found[1]


def _send(browser: OpenerDirector, url: str, token: str, tag: str, revision: int, method: str) -> None:
    draft = {"marks": {"0": tag}, "hidden": [], "revision": revision, "seconds": 1.0}
    headers = {"X-CSRF-Token": token, "Content-Type": "application/json"}
    with browser.open(Request(url, json.dumps(draft).encode(), headers, method=method)) as answer:
        answer.read()


@pytest.mark.browser
def test_a_warning_is_read_whole_on_a_narrow_screen(tmp_path: Path, context: Any) -> None:
    """It is broken into lines; where it was cut, nobody saw what to do."""
    with served(with_people(tmp_path, "ada")) as workbench:
        window = next_page(context, workbench, "ada")
        window.set_viewport_size({"width": 420, "height": 844})
        window.evaluate("workbench.showKept('refused')")
        box = window.locator("#saved").bounding_box()

    assert 0 <= box["x"]
    assert box["x"] + box["width"] <= 420


@pytest.mark.browser
def test_text_from_right_to_left_is_listed_so(tmp_path: Path, context: Any) -> None:
    """Each text has its own direction."""
    hebrew = "<p>אבני הנחל שוחקות את הגדה.</p>"
    crawled = archive(tmp_path / "a.warc", record(http(page("Stones", extra=hebrew))))
    with served(with_pages_of(tmp_path, [crawled], wanted(), "ada")) as one:
        window = next_page(context, one, "ada")
        press(window, "t")
        found = window.evaluate(
            "[...document.querySelectorAll('#texts li')].map(one => [getComputedStyle(one).direction, one.textContent])"
        )

    assert ["rtl"] == [direction for direction, text in found if "אבני" in text]
    assert {"ltr"} == {direction for direction, text in found if "אבני" not in text}


@pytest.mark.browser
def test_all_buttons_are_within_the_screen_of_a_phone(tmp_path: Path, context: Any) -> None:
    """No page of the workbench is wider than a phone's screen, and every tag can be given, though its bar does not
    scroll."""
    with served(with_people(tmp_path, "ada")) as workbench:
        window = log_in(context, workbench, "ada")
        window.set_viewport_size({"width": 390, "height": 844})
        widths = {}
        for path in ("/", "/guidelines", "/password", "/admin", "/tutorial", "/next"):
            window.goto(f"{workbench.address}{path}")
            widths[path] = window.evaluate("document.documentElement.scrollWidth")
        buttons = [one.bounding_box() for one in window.locator("button:visible").all()]

    assert dict.fromkeys(widths, 390) == widths
    assert max(box["x"] + box["width"] for box in buttons) <= 390
