// The neighbours of a cross, one at a time beside the page; each shows what it has where the page has the piece in pink.

import { Frame } from "./frame-talk.js";

export class Beside {
  // `places` has for each segment the node of its place in the neighbours; `pressed` is called with the keys.
  constructor(element, places, pressed) {
    this.element = element;
    this.places = places;
    this.pressed = pressed;
    this.tabs = [...element.querySelectorAll("[role=tab]")];
    this.frames = new Map();
    this.segment = -1;
    this.show(this.tabs[0]);
  }

  show(tab) {
    this.tab = tab;
    for (const one of this.tabs) one.setAttribute("aria-selected", String(one === tab));
    for (const pane of this.element.querySelectorAll("[data-of]")) pane.hidden = pane.dataset.of !== tab.dataset.arm;
    this.element.querySelector(".url").textContent = tab.title;
    if (!this.frames.has(tab)) {
      // A neighbour is loaded when it is first looked at.
      const frame = this.element.querySelector(`[data-of=${tab.dataset.arm}] iframe`);
      frame.src = tab.dataset.src;
      this.frames.set(tab, new Frame(frame, (message) => this.receive(message)));
    }
    this.follow(this.segment);
  }

  turn(by) {
    const count = this.tabs.length;
    this.show(this.tabs[(this.tabs.indexOf(this.tab) + by + count) % count]);
  }

  follow(segment) {
    this.segment = segment;
    this.frames.get(this.tab).send({ type: "aim", node: this.places[segment] ?? -1, leaves: [], scroll: true });
  }

  receive(message) {
    if (message.type === "ready") this.follow(this.segment);
    else if (message.type === "key") this.pressed(message);
  }
}
