// The one script that runs in the frame of an archived page. It shows the messages of the workbench and reports what the
// hand does; it decides nothing, and knows neither a name nor a password.
"use strict";

(() => {
  const workbench = document.currentScript.dataset.workbench;
  const NODE = "data-dbce-node", TAG = "data-dbce-tag", AIM = "data-dbce-aim";
  const PASSED = /^(PageUp|PageDown|Home|End| |Tab|F\d+|Shift|Control|Alt|Meta)$/;
  const containers = new Map(), pieces = new Map();
  let aimed = [], hovered = -1, rested = "", begun = false;

  const report = (message) => window.parent.postMessage(message, workbench);
  const nodeAt = (target) => {
    const element = target instanceof Element ? target.closest(`[${NODE}]`) : null;
    return element ? Number(element.getAttribute(NODE)) : -1;
  };

  function collect() {
    for (const element of document.querySelectorAll(`[${NODE}]`)) {
      const node = Number(element.getAttribute(NODE));
      if (element.localName === "dbce-segment") {
        if (!pieces.has(node)) pieces.set(node, []);
        pieces.get(node).push(element);
      } else if (!containers.has(node)) {
        containers.set(node, element);
      }
    }
  }

  // A reader unfolds with one click what is folded; here clicks are for tags. Of those with one name only one can be open.
  function unfold() {
    for (const element of document.querySelectorAll("details")) {
      element.removeAttribute("name");
      element.open = true;
    }
  }

  function isShown(element) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false })) return false;
    for (const box of element.getClientRects()) {
      if (box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0) return true;
    }
    return false;
  }

  function hidden() {
    const found = [];
    for (const [node, elements] of pieces) if (!elements.some(isShown)) found.push(node);
    return found;
  }

  function aim(node, leaves, scroll) {
    for (const element of aimed) element.removeAttribute(AIM);
    const container = containers.get(node);
    aimed = container ? [container] : leaves.flatMap((leaf) => pieces.get(leaf) || []);
    for (const element of aimed) element.setAttribute(AIM, "");
    if (scroll && aimed.length) {
      const box = aimed[0].getBoundingClientRect();
      if (box.top < 40 || box.bottom > innerHeight - 40) {
        aimed[0].scrollIntoView({ block: box.height > innerHeight ? "start" : "center", inline: "nearest" });
      }
    }
  }

  function paint(changes) {
    for (const [leaf, tag] of changes) {
      for (const element of pieces.get(leaf) || []) {
        if (tag) element.setAttribute(TAG, tag);
        else element.removeAttribute(TAG);
      }
    }
  }

  addEventListener("message", (event) => {
    if (event.source !== window.parent || event.origin !== workbench) return;
    const message = event.data;
    if (message.type === "aim") aim(message.node, message.leaves, message.scroll);
    else if (message.type === "paint") paint(message.changes);
    else if (message.type === "ask" && begun) report({ type: "ready", hidden: hidden() });
  });

  addEventListener("pointermove", (event) => {
    // A page that scrolls under a hand at rest is not pointed at.
    const place = `${event.screenX} ${event.screenY}`;
    const node = nodeAt(event.target);
    if (place !== rested && node !== hovered) {
      hovered = node;
      report({ type: "hover", node });
    }
    rested = place;
  }, { passive: true });
  addEventListener("contextmenu", (event) => {
    event.preventDefault();
    report({ type: "menu", node: nodeAt(event.target), x: event.clientX, y: event.clientY });
  }, true);
  for (const name of ["click", "auxclick", "dblclick", "submit", "dragstart"]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (name === "click") report({ type: "click", node: nodeAt(event.target), shift: event.shiftKey });
    }, true);
  }
  addEventListener("keydown", (event) => {
    const ctrl = event.ctrlKey || event.metaKey;
    // With Ctrl or Alt alone a key is the browser's: it zooms, goes back, or leads to another tab.
    if (PASSED.test(event.key) || (ctrl !== event.altKey && !(ctrl && /^(Enter|z|y)$/i.test(event.key)))) return;
    event.preventDefault();
    event.stopPropagation();
    report({ type: "key", key: event.key, code: event.code, ctrl, shift: event.shiftKey, alt: event.altKey });
  }, true);

  // A frame that has no size yet shows nothing, and all of the page would count as not visible.
  function begin() {
    if (begun) return;
    if (!innerWidth || !innerHeight) return addEventListener("resize", begin, { once: true });
    begun = true;
    unfold();
    collect();
    report({ type: "ready", hidden: hidden() });
  }
  // An image that never comes does not keep anybody from working.
  addEventListener("load", begin);
  setTimeout(begin, 5000);
})();
