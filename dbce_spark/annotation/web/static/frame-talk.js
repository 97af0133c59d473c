// The frame of the archived page: what is said to it and heard from it. It is of no origin, so it is known by its window.

export class Frame {
  constructor(element, heard) {
    this.element = element;
    addEventListener("message", (event) => {
      if (event.source === element.contentWindow && event.origin === "null" && event.data) heard(event.data);
    });
    this.say({ type: "ask" }); // it may have been ready before anybody listened
  }

  say(message) {
    this.element.contentWindow.postMessage(message, "*");
  }

  paint(changes) {
    if (changes.length) this.say({ type: "paint", changes });
  }
}
