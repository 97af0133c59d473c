// The keys of the workbench. All others are the browser's: those that zoom, go back, or lead to another tab.

// The digit of a tag; "" for any other key, as are those of a number pad that moves the cursor.
export function digitOf({ key, code = "" }) {
  const found = /^(?:Digit|Numpad)([1-5])$/.exec(code);
  return found && (code.startsWith("Digit") || key === found[1]) ? found[1] : "";
}

export function isOurs(event) {
  const ctrl = event.ctrlKey || event.metaKey;
  if (digitOf(event)) return ctrl === event.altKey;
  if (event.altKey) return false;
  return (ctrl ? /^(Enter|z|y)$/i : /^(Arrow(Up|Down|Left|Right)|[jkzyntb+?-]|Escape)$/i).test(event.key);
}
