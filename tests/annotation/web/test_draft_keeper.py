"""Keep drafts at servers of any mood."""

import pytest

from tests.support.scripts_in_node import in_node

BROWSER = """
const stored = new Map(), asked = [], methods = [], shown = [];
let status = 200;
Math.random = () => 0;
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};
globalThis.fetch = async (url, { body, method }) => {
  methods.push(method);
  asked.push(JSON.parse(body).revision);
  return { ok: status < 300, status, json: async () => ({ then: "/next" }) };
};
const real = setTimeout;
const rest = () => new Promise((resolve) => real(resolve, 0));
globalThis.setTimeout = (next) => (asked.length < 5 ? real(next, 0) : 0);
const bench = { page: "p", whose: "store ada", csrf: "c" }, content = () => ({ marks: { 0: "content" } });
const made = (revision) => new DraftKeeper(bench, { revision, marks: {} }, content, (how) => shown.push(how));
const print = (found) => console.log(JSON.stringify(found));
"""


def keeper(program: str) -> object:
    return in_node("draft-keeper.js", BROWSER + program)


@pytest.mark.parametrize("status", [404, 413, 422])
def test_a_server_that_refuses_a_draft_is_asked_again_with_the_next_change_alone(status: int) -> None:
    """It is neither away nor does it take the same later; what is tagged stays in the browser."""
    program = "for (let at = 0; at < 2; at += 1) { one.changed(); for (let n = 0; n < 20; n += 1) await rest(); }"
    found = keeper(f"status = {status}; const one = made(5); {program} print([asked, shown.at(-1), stored.size]);")

    assert [[6, 7], "refused", 1] == found


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_a_server_that_may_take_a_draft_later_is_asked_until_it_does(status: int) -> None:
    """Each try may replace the one before, of which only the answer may be lost."""
    program = "while (asked.length < 3) await rest(); status = 200; while (stored.size) await rest();"
    found = keeper(f"status = {status}; const one = made(5); one.changed(); {program} print([asked, shown.at(-1)]);")

    assert [[6, 6, 6, 6], "kept"] == found


def test_what_is_tagged_in_a_window_that_is_stale_replaces_nothing() -> None:
    """The server has a revision that the draft was not made from, however many changes it counts; the page, loaded
    again, asks which of both to go on with."""
    program = "one.changed(); for (let at = 0; at < 9; at += 1) await rest(); one.changed(); one.changed();"
    again = "const two = made(9); const left = two.left();"
    found = keeper(
        f"status = 409; const one = made(5); {program} {again} print([shown.at(-1), asked, two.isOther(left)]);"
    )

    assert ["stale", [6], True] == found


@pytest.mark.parametrize(("revision", "expected"), [(5, False), (6, False), (8, True)])
def test_what_is_left_goes_on_from_a_draft_whose_answer_was_lost(revision: int, expected: bool) -> None:
    """The server may have the draft that this browser sent, or the one before it; any other is somebody else's."""
    program = "one.changed(); for (let at = 0; at < 3; at += 1) await rest(); one.changed();"
    found = keeper(
        f"status = 500; const one = made(5); {program} const two = made({revision}); print(two.isOther(two.left()));"
    )

    assert expected is found


def test_what_is_left_may_reach_the_server_late() -> None:
    """A draft that was on its way when its tab was closed is not another browser's, if it comes after the next tab has
    asked what the server has."""
    program = "one.changed(); await rest(); const two = made(5); two.resume(two.left());"
    found = keeper(f"status = 500; const one = made(5); {program} print(two.replaces.includes(one.revision));")

    assert found is True


def test_a_page_is_submitted_at_once_or_not_at_all() -> None:
    """A submission that the server missed is not sent later, though the draft is; another one is."""
    program = (
        "status = 500; const one = made(5); one.changed(); await rest(); const first = await one.submit();"
        " const lacks = one.lacksSubmission; status = 200; while (one.isDirty || one.isBusy) await rest();"
        " const kept = shown.at(-1), sent = methods.slice(1).filter((one) => one === 'POST').length;"
        " print([first, lacks, kept, sent, one.lacksSubmission, await one.submit(), one.lacksSubmission]);"
    )

    assert ["", True, "kept", 1, True, "/next", False] == keeper(program)


def test_a_submission_that_comes_late_is_refused() -> None:
    """The draft that is kept after it has another revision than the submission had."""
    program = "await one.submit(); status = 200; while (stored.size) await rest();"
    found = keeper(f"status = 503; const one = made(5); {program} print([methods, asked, one.lacksSubmission]);")

    assert [["POST", "PUT", "PUT"], [6, 7, 7], True] == found


def test_a_page_goes_on_where_a_draft_on_its_way_is_refused_while_it_is_submitted() -> None:
    """The tags stay in the browser, and the page says that they are not submitted."""
    program = "one.changed(); const then = await one.submit();"
    found = keeper(f"status = 403; const one = made(5); {program} print([then, one.isSubmitting, shown.at(-1)]);")

    assert ["", False, "out"] == found
