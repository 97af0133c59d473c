// The workbench: what is tagged, and what the hand on mouse or keys does to it.

import { Beside } from "./beside.js";
import { DraftKeeper } from "./draft-keeper.js";
import { Frame } from "./frame-talk.js";
import { digitOf, isOurs } from "./keys.js";
import { Outline } from "./outline.js";

const TAGS = { 1: "boilerplate", 2: "undecided", 3: "content", 4: "", 5: "comment" };
const WORDS = { boilerplate: "boilerplate", undecided: "undecided", content: "content", comment: "content, a reader's comment", "": "no tag" };
const STATES = {
  kept: "Everything is kept", keeping: "Keeping…", submitting: "Submitting…", away: "The server does not answer; kept in this browser, trying again…",
  refused: "The server refuses this page's tags; they are kept in this browser. Tell who runs the workbench.",
  stale: "This page was changed in another window. Load it again to go on.", out: "You are logged out. Log in in another window, then load this page again.",
};
const $ = (selector) => document.querySelector(selector);
const bench = $("#bench");

const json = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.json();
};

class Bench {
  constructor(data) {
    this.data = data;
    this.outline = new Outline(data);
    this.words = data.texts.map((text) => text.split(/\s+/).filter(Boolean).length);
    this.marks = new Map();
    this.hidden = new Set();
    this.model = null;
    this.seen = new Set();
    this.past = [];
    this.future = [];
    // Of a cross the segments come one after the other, and a tag leads on (thesis 4.1).
    this.isCross = "cross" in bench.dataset;
    this.level = this.isCross ? 0 : 1;
    this.segment = -1;
    this.aimed = -1;
    this.brush = null;
    this.painted = data.leaves.map(() => "");
    this.tags = [...this.painted];
    this.seconds = data.draft.seconds;
    this.lastMove = Date.now();
    this.isReady = false;
    this.keeper = new DraftKeeper(bench.dataset, data.draft, () => this.content(), (how) => this.showKept(how));
    this.frame = new Frame($("#page"), (message) => this.receive(message));
    if (this.isCross) this.beside = new Beside($("#beside"), data.places, (message) => this.press(message));
    this.showKept("kept");
    if (data.model) this.model = data;
    this.listen();
    this.goOn(this.keeper.left());
    setInterval(() => this.tick(), 1000);
    this.show();
  }

  // ---- what is kept

  // With what this browser has left; with what the server has, if nothing is left; asks, if another browser was there.
  goOn(left) {
    const isOther = left !== null && this.keeper.isOther(left);
    this.take(isOther || !left ? this.data.draft : left);
    if (!isOther) {
      if (left) this.keeper.resume(left);
      return;
    }
    this.keeper.isAsked = true;
    const [here, there] = [left, this.data.draft].map((draft) => Object.keys(draft.marks).length);
    $("#differ").textContent = `This browser has ${here}, which the workbench may never have got, or which may be older. It has ${there} from another browser or window.`;
    $("#which").addEventListener("close", () => {
      const chosen = $("#which").returnValue;
      if (!chosen) return $("#which").showModal(); // closed by a key
      if (chosen === "here") this.take(this.isReady ? { ...left, hidden: [...this.hidden] } : left);
      this.keeper.settle(chosen === "here");
      return this.show();
    });
    $("#which").showModal();
  }

  take(draft) {
    this.marks = new Map(Object.entries(draft.marks).map(([node, tag]) => [Number(node), tag]));
    this.hidden = new Set(draft.hidden);
    this.seconds = Math.max(this.seconds, draft.seconds);
  }

  content() {
    return { marks: Object.fromEntries(this.marks), hidden: [...this.hidden], seconds: this.seconds };
  }

  tick() {
    if (document.visibilityState === "visible" && Date.now() - this.lastMove < this.data.idle * 1000) this.seconds += 1;
  }

  showKept(how) {
    const isLacking = this.keeper.lacksSubmission;
    $("#saved").textContent = STATES[how] + (isLacking ? " · Not submitted yet: submit again." : "");
    $("#saved").classList.toggle("trouble", isLacking || !["kept", "keeping", "submitting"].includes(how));
    document.body.dataset.kept = how;
  }

  // ---- what is tagged

  tag(node, tag, below) {
    if (node < 0 || this.keeper.isSubmitting) return;
    const change = [];
    const set = (one, after) => {
      const before = this.marks.get(one);
      if (before !== after) change.push([one, before, after]);
    };
    set(node, tag || undefined);
    if (below) {
      for (const one of this.marks.keys()) if (one !== node && this.outline.isWithin(one, node)) set(one, undefined);
    }
    this.seen.add(this.outline.first[node]);
    if (!change.length) return;
    this.past.push(change);
    this.future = [];
    this.apply(change, 2);
  }

  apply(change, side) {
    for (const entry of change) {
      if (entry[side] === undefined) this.marks.delete(entry[0]);
      else this.marks.set(entry[0], entry[side]);
    }
    this.keeper.changed();
    this.show();
  }

  undo() {
    if (this.keeper.isSubmitting) return;
    const change = this.past.pop();
    if (!change) return;
    this.future.push(change);
    this.apply(change, 1);
    this.aim(this.outline.first[change[0][0]], change[0][0], true);
  }

  redo() {
    if (this.keeper.isSubmitting) return;
    const change = this.future.pop();
    if (!change) return;
    this.past.push(change);
    this.apply(change, 2);
    this.aim(this.outline.first[change[0][0]], change[0][0], true);
  }

  // ---- what is shown

  show() {
    this.tags = this.outline.tags(this.marks, this.hidden, this.model && this.model.labels);
    if (this.isReady) {
      const changes = [];
      this.tags.forEach((tag, at) => {
        if (tag !== this.painted[at]) changes.push([this.data.leaves[at], tag]);
      });
      this.painted = [...this.tags];
      this.frame.paint(changes);
    }
    this.showProgress();
    this.showTexts();
    this.showAim();
    $("[data-act=undo]").disabled = !this.past.length;
    $("[data-act=redo]").disabled = !this.future.length;
  }

  showProgress() {
    const total = this.words.reduce((sum, words) => sum + words, 0) || 1;
    let done = 0;
    for (const tag of ["boilerplate", "undecided", "content", "comment"]) {
      const words = this.words.reduce((sum, words, at) => (this.tags[at] === tag ? sum + words : sum), 0);
      done += words;
      $(`.progress .${tag}`).style.width = `${(100 * words) / total}%`;
    }
    const pieces = `${this.tags.filter(Boolean).length} of ${this.tags.length}`;
    $("#count").textContent = done === total ? "all tagged" : this.isCross ? pieces : `${Math.floor((100 * done) / total)} % of words`;
  }

  showTexts() {
    const list = $("#texts ol");
    if ($("#texts").hidden) return;
    if (!list.children.length) {
      list.append(...this.data.texts.map((text, at) => {
        const item = document.createElement("li");
        item.textContent = text;
        item.dir = "auto";
        item.dataset.at = at;
        return item;
      }));
    }
    this.tags.forEach((tag, at) => {
      const item = list.children[at];
      if (item.dataset.tag !== tag) item.dataset.tag = tag;
      item.classList.toggle("hidden", this.hidden.has(at));
    });
  }

  showAim() {
    const names = ["segment", "block"];
    $("#level").textContent = names[this.level] || `${this.level - 1} around block`;
    const message = $("#message");
    if (this.aimed < 0) {
      message.textContent = this.brush === null ? "Point at a piece, or press ↓; then 1 boilerplate, 2 undecided, 3 content." : "";
      return;
    }
    const [first, last] = [this.outline.first[this.aimed], this.outline.last[this.aimed]];
    const words = this.words.slice(first, last + 1).reduce((sum, one) => sum + one, 0);
    const kinds = new Set(this.tags.slice(first, last + 1));
    const own = this.marks.get(this.aimed);
    let tag = kinds.size > 1 ? "different tags inside" : WORDS[[...kinds][0]];
    if (kinds.size === 1 && this.tags[first]) tag += own ? "" : this.hidden.has(first) && first === last ? " (not visible)" : this.model && !this.isMarked(this.aimed) ? " (the model's)" : " (from around it)";
    const score = this.model && first === last ? ` · the model: ${Math.round(100 * this.model.scores[first])} % content` : "";
    const text = this.data.texts[first];
    message.textContent = `${words} ${words === 1 ? "word" : "words"} · ${tag}${score} · \u2068${text.slice(0, 90)}\u2069${text.length > 90 || last > first ? "…" : ""}`;
  }

  isMarked(node) {
    for (; node >= 0; node = this.outline.parents[node]) if (this.marks.has(node)) return true;
    return false;
  }

  // ---- what is pointed at

  aim(segment, node, scroll) {
    this.segment = segment;
    this.aimed = node;
    const leaves = node < 0 ? [] : this.data.leaves.slice(this.outline.first[node], this.outline.last[node] + 1);
    if (this.isReady) this.frame.send({ type: "aim", node, leaves: leaves.length > 40 ? [] : leaves, scroll: Boolean(scroll) });
    if (this.isCross) this.beside.follow(segment);
    for (const item of document.querySelectorAll("#texts [aria-current]")) item.removeAttribute("aria-current");
    const item = segment >= 0 && !$("#texts").hidden ? $("#texts ol").children[segment] : null;
    if (item) {
      item.setAttribute("aria-current", "true");
      if (scroll) item.scrollIntoView({ block: "nearest" });
    }
    this.showAim();
  }

  point(node) {
    const segment = this.outline.segmentOf.get(node);
    if (segment !== undefined) this.aim(segment, this.outline.at(segment, this.level));
    else if (node >= 0 && this.level > 1) this.aim(this.outline.first[node], node);
  }

  step(by) {
    const edge = this.aimed < 0 ? (by > 0 ? -1 : this.data.leaves.length) : by > 0 ? this.outline.last[this.aimed] : this.outline.first[this.aimed];
    let at = edge + by;
    while (this.hidden.has(at) && $("#texts").hidden) at += by;
    if (at >= 0 && at < this.data.leaves.length) this.aim(at, this.outline.at(at, this.level), true);
  }

  zoom(by) {
    const most = this.segment < 0 ? 8 : this.outline.height(this.segment);
    this.level = Math.max(0, Math.min(most, this.level + by));
    if (this.segment >= 0) this.aim(this.segment, this.outline.at(this.segment, this.level), true);
    else this.showAim();
  }

  // The next piece that wants a look: one without a tag, or of what the model has labelled the least certain.
  next(after = this.segment) {
    const open = this.data.leaves.map((_, at) => at).filter((at) => !this.hidden.has(at));
    let found = open.find((at) => !this.tags[at] && at > after) ?? open.find((at) => !this.tags[at]);
    if (found === undefined && this.model) {
      const doubt = (at) => Math.abs(this.model.scores[at] - 0.5);
      const left = open.filter((at) => !this.seen.has(at) && !this.isMarked(this.data.leaves[at]));
      found = left.sort((one, other) => doubt(one) - doubt(other) || one - other)[0];
    }
    if (found === undefined) return;
    this.seen.add(found);
    this.level = this.isCross ? 0 : Math.min(this.level, 1);
    this.aim(found, this.outline.at(found, this.level), true);
  }

  // ---- the hand

  receive(message) {
    this.lastMove = Date.now();
    const isNode = Number.isInteger(message.node) && message.node < this.data.parents.length;
    if (message.type === "ready" && Array.isArray(message.hidden)) this.begin(message.hidden);
    else if (message.type === "hover" && isNode && !this.isCross && $("#menu").hidden && message.node >= 0) this.point(message.node);
    else if (message.type === "key") this.press(message);
    else if (message.type === "menu" && isNode) this.openMenu(message);
    else if (message.type === "click" && isNode) this.click(message);
  }

  begin(nodes) {
    this.isReady = true;
    this.painted = this.data.leaves.map(() => "");
    const found = nodes.map((node) => this.outline.segmentOf.get(node)).filter((at) => at !== undefined);
    if (found.length !== this.hidden.size || found.some((at) => !this.hidden.has(at))) {
      this.hidden = new Set(found);
      this.keeper.changed();
    }
    this.show();
    if (this.segment >= 0) this.aim(this.segment, this.aimed, true); // by a key that came before the frame was ready
    else if (this.isCross) this.next();
    document.body.dataset.ready = "yes";
  }

  // A tag for the piece in pink; of a cross the next one comes.
  give(tag, below) {
    this.tag(this.aimed, tag, below);
    if (this.isCross && tag) this.next();
  }

  click(message) {
    if (!$("#menu").hidden) return this.closeMenu();
    if (this.isCross && message.node >= 0) return this.point(message.node);
    if (this.brush !== null && message.node >= 0) {
      this.point(message.node);
      this.tag(this.aimed, this.brush, message.shift);
    }
  }

  press({ key, code, ctrl, shift, alt }) {
    this.lastMove = Date.now();
    if (key === "Escape") {
      this.closeMenu();
      return this.setBrush(null);
    }
    const digit = digitOf({ key, code });
    // The manual's own keys had Ctrl and Alt with them.
    if (digit && (ctrl === alt)) return this.give(TAGS[digit], shift);
    if (ctrl && key === "Enter") return this.submit();
    if (ctrl && key.toLowerCase() === "z") return shift ? this.redo() : this.undo();
    if (ctrl && key.toLowerCase() === "y") return this.redo();
    if (ctrl || alt) return undefined;
    const acts = {
      ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1), j: () => this.step(1), k: () => this.step(-1),
      ArrowLeft: () => this.zoom(1), ArrowRight: () => this.zoom(-1), "+": () => this.zoom(1), "-": () => this.zoom(-1),
      z: () => this.undo(), y: () => this.redo(), n: () => this.next(), b: () => this.beside?.turn(shift ? -1 : 1), t: () => this.toggleTexts(), "?": () => this.act("help"),
    };
    return (acts[key] || acts[key.toLowerCase()] || (() => undefined))();
  }

  act(name, button) {
    const acts = {
      undo: () => this.undo(), redo: () => this.redo(), finer: () => this.zoom(-1), coarser: () => this.zoom(1),
      texts: () => this.toggleTexts(), prelabel: () => this.prelabel(), submit: () => this.submit(),
      help: () => $("#help").showModal(), beside: () => this.beside.show(button),
      brush: () => (this.isCross ? this.give(button.dataset.tag, false) : this.setBrush(button.getAttribute("aria-pressed") === "true" ? null : button.dataset.tag)),
    };
    if (acts[name]) acts[name]();
  }

  setBrush(tag) {
    this.brush = tag;
    for (const button of document.querySelectorAll("[data-act=brush]")) button.setAttribute("aria-pressed", String(button.dataset.tag === tag));
  }

  toggleTexts() {
    $("#texts").hidden = !$("#texts").hidden;
    if (this.isCross) $("#beside").hidden = !$("#texts").hidden;
    $("[data-act=texts]").setAttribute("aria-pressed", String(!$("#texts").hidden));
    this.showTexts();
    if (this.segment >= 0) this.aim(this.segment, this.aimed, true);
  }

  openMenu({ node, x, y }) {
    if (node >= 0) this.point(node);
    if (this.aimed < 0) return;
    const [menu, box] = [$("#menu"), $("#page").getBoundingClientRect()];
    menu.hidden = false;
    const scale = box.width / $("#page").offsetWidth;
    menu.style.left = `${Math.min(box.left + scale * x, innerWidth - menu.offsetWidth - 8)}px`;
    menu.style.top = `${Math.min(box.top + scale * y, innerHeight - menu.offsetHeight - 8)}px`;
    menu.querySelector("button").focus();
  }

  closeMenu() {
    $("#menu").hidden = true;
    $("#page").focus();
  }

  async prelabel() {
    const found = await this.keeper.prelabel();
    if (!found) {
      $("#message").textContent = "The model's labels did not come; ask again.";
      return undefined;
    }
    this.model = found;
    $("[data-act=prelabel]").disabled = true;
    this.keeper.changed();
    return this.show();
  }

  async submit(anyway) {
    const lacking = this.tags.findIndex((tag) => !tag);
    if (lacking >= 0 && !anyway) {
      const count = this.tags.filter((tag) => !tag).length;
      $("#lack").textContent = `${count} of ${this.tags.length} have none, of their own or from around them.`;
      $("#sure").returnValue = "";
      return $("#sure").showModal();
    }
    const then = await this.keeper.submit();
    if (then) location.href = then;
    return undefined;
  }

  listen() {
    addEventListener("keydown", (event) => {
      if (document.querySelector("dialog[open]") || event.target.matches("input, textarea")) return;
      if (!isOurs(event) || (!$("#menu").hidden && event.key.startsWith("Arrow"))) return this.moveInMenu(event);
      event.preventDefault();
      this.press({ key: event.key, code: event.code, ctrl: event.ctrlKey || event.metaKey, shift: event.shiftKey, alt: event.altKey });
      if (digitOf(event)) $("#menu").hidden = true;
    });
    addEventListener("click", (event) => {
      const button = event.target.closest("button");
      const item = event.target.closest("#texts li");
      if (button && button.closest("#menu") && button.dataset.tag !== undefined) {
        this.tag(this.aimed, button.dataset.tag, "below" in button.dataset);
        this.closeMenu();
      } else if (button && button.dataset.act) {
        this.act(button.dataset.act, button);
      } else if (item) {
        const at = Number(item.dataset.at);
        this.aim(at, this.outline.at(at, this.level), true);
        if (this.brush !== null) this.tag(this.aimed, this.brush, event.shiftKey);
      } else if (!event.target.closest("#menu")) {
        $("#menu").hidden = true;
      }
    });
    addEventListener("pointermove", () => { this.lastMove = Date.now(); }, { passive: true });
    $("#sure").addEventListener("close", () => {
      if ($("#sure").returnValue === "submit") this.submit(true);
      else if ($("#sure").returnValue === "look") this.next(-1);
    });
    if (this.data.draft.prelabelled && $("[data-act=prelabel]")) $("[data-act=prelabel]").disabled = true;
  }

  moveInMenu(event) {
    if ($("#menu").hidden || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    const buttons = [...document.querySelectorAll("#menu button")];
    const at = buttons.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    buttons[(at + buttons.length) % buttons.length].focus();
  }
}

// The answer to a page of the tutorial: what agrees is light, what differs has the colour it should have had.
class TutorialAnswer {
  constructor(data) {
    this.data = data;
    this.outline = new Outline(data);
    this.words = data.texts.map((text) => text.split(/\s+/).filter(Boolean).length);
    this.frame = new Frame($("#page"), (message) => this.receive(message));
    const total = this.words.reduce((sum, one) => sum + one, 0) || 1;
    const right = this.words.reduce((sum, one, at) => (data.given[at] === data.reference[at] ? sum + one : sum), 0);
    $("#agreement").textContent = right === total ? "All as the reference has it" : `${Math.round((100 * right) / total)} % of words as the reference has them`;
  }

  receive(message) {
    if (message.type === "ready") {
      const { leaves, given, reference } = this.data;
      this.frame.paint(leaves.map((leaf, at) => [leaf, given[at] === reference[at] ? `light-${reference[at]}` : reference[at]]));
      document.body.dataset.ready = "yes";
    } else if (message.type === "hover") {
      const at = this.outline.segmentOf.get(message.node);
      if (at === undefined) return;
      const [given, reference] = [this.data.given[at], this.data.reference[at]];
      $("#message").textContent = given === reference ? `${reference}, as the reference has it` : `you: ${WORDS[given]} · the reference: ${reference} · ${this.data.texts[at].slice(0, 90)}`;
    } else if (message.type === "key" && (message.key === "Enter" || message.key === "n")) {
      location.href = $("#onward").href;
    }
  }
}

if (bench.dataset.mode === "label") globalThis.workbench = new Bench(await json(`/api/pages/${bench.dataset.page}`));
else globalThis.workbench = new TutorialAnswer(await json(`/api/tutorial/${bench.dataset.page}`));
