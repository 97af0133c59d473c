"""Leave to a browser the keys that are its own."""

import json

import pytest

from tests.support.scripts_in_node import in_node

Key = tuple[str, str, str]
"""A key, its place on the keyboard, and what is held down with it."""

OURS: list[Key] = [
    ("3", "Digit3", ""), ("§", "Digit3", "shift"), ("3", "Digit3", "ctrl alt"), ("3", "Numpad3", ""),
    ("ArrowLeft", "ArrowLeft", ""), ("+", "BracketRight", ""), ("-", "Slash", ""), ("?", "Minus", "shift"),
    ("N", "KeyN", "shift"), ("Enter", "Enter", "ctrl"), ("Enter", "Enter", "meta"), ("Z", "KeyZ", "ctrl shift"),
    ("Escape", "Escape", ""),
]  # fmt: skip
BROWSERS: list[Key] = [
    ("+", "BracketRight", "ctrl"), ("-", "Slash", "meta"), ("ArrowLeft", "ArrowLeft", "alt"), ("n", "KeyN", "ctrl"),
    ("1", "Digit1", "ctrl"), ("1", "Digit1", "alt"), ("F6", "F6", ""), ("Tab", "Tab", "shift"),
    ("ArrowLeft", "ArrowLeft", "meta"),
]  # fmt: skip


def events(keys: list[Key]) -> str:
    """Write the events of keys as a browser has them."""
    held = ("ctrl", "meta", "alt", "shift")
    return json.dumps(
        [{"key": key, "code": code} | {f"{one}Key": one in of.split() for one in held} for key, code, of in keys]
    )


@pytest.mark.parametrize(("keys", "is_ours"), [(OURS, True), (BROWSERS, False)], ids=["ours", "browser's"])
def test_keys_of_the_browser_are_left_to_it(keys: list[Key], is_ours: bool) -> None:
    """The workbench takes none that zooms, goes back, or leads to another tab."""
    found = in_node("keys.js", f"console.log(JSON.stringify({events(keys)}.map(isOurs)));")

    assert [is_ours] * len(keys) == found


@pytest.mark.parametrize(("keys", "is_ours"), [(OURS, True), (BROWSERS, False)], ids=["ours", "browser's"])
def test_the_frame_of_a_page_leaves_them_too(keys: list[Key], is_ours: bool) -> None:
    """All other keys are reported to the workbench."""
    before = """
    let prevented, reported = 0;
    const listeners = {}, dispatch = (event) => {
      prevented = false;
      listeners.keydown({ ...event, preventDefault: () => { prevented = true; }, stopPropagation: () => {} });
      return prevented;
    };
    globalThis.document = { currentScript: { dataset: { workbench: "" } } };
    globalThis.window = { parent: { postMessage: () => { reported += 1; } } };
    globalThis.addEventListener = (name, listener) => { listeners[name] = listener; };
    globalThis.setTimeout = () => 0;
    """
    after = f"console.log(JSON.stringify([{events(keys)}.map(dispatch), reported]));"
    found = in_node("frame.js", after, before)

    assert [[is_ours] * len(keys), is_ours * len(keys)] == found


def test_a_number_pad_that_moves_the_cursor_tags_nothing() -> None:
    """Without its lock the keys of the pad are arrows."""
    pad = [("ArrowLeft", "Numpad4", ""), ("End", "Numpad1", ""), ("4", "Numpad4", ""), ("$", "Digit4", "shift")]
    found = in_node("keys.js", f"console.log(JSON.stringify({events(pad)}.map(digitOf)));")

    assert ["", "", "4", "4"] == found
