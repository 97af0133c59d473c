"""Keep drafts at servers of any mood."""

import pytest

from tests.support.scripts_in_node import in_node

BROWSER = """
const stored = new Map(), asked = [], shown = [];
let status = 200;
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};
globalThis.fetch = async (url, { body }) => {
  asked.push(JSON.parse(body).revision);
  return { ok: status < 300, status, json: async () => ({ then: "/next" }) };
};
const real = setTimeout;
const rest = () => new Promise((resolve) => real(resolve, 0));
globalThis.setTimeout = (next) => (asked.length < 5 ? real(next, 0) : 0);
const made = (revision) =>
  new DraftKeeper({ page: "p", account: 1, csrf: "c" }, { revision }, () => ({}), (how) => shown.push(how));
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
    """Each try is a later revision, since only the answer to the one before may be lost."""
    program = "while (asked.length < 3) await rest(); status = 200; while (stored.size) await rest();"
    found = keeper(f"status = {status}; const one = made(5); one.changed(); {program} print([asked, shown.at(-1)]);")

    assert [[6, 7, 8, 9], "kept"] == found


def test_what_is_tagged_in_a_window_that_is_stale_replaces_nothing() -> None:
    """The browser keeps none of it, so that the page, loaded again, shows what the other window has tagged."""
    program = "one.changed(); for (let at = 0; at < 9; at += 1) await rest(); one.changed(); one.changed();"
    found = keeper(f"status = 409; const one = made(5); {program} print([shown.at(-1), made(6).left()]);")

    assert ["stale", None] == found
