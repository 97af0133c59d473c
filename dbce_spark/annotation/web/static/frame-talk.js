// Exchanges messages with the frame of the archived page. It is of no origin, so it is identified by its window.

export class Frame {
  constructor(element, receive) {
    this.element = element;
    addEventListener("message", (event) => {
      if (event.source === element.contentWindow && event.origin === "null" && event.data) receive(event.data);
    });
    this.send({ type: "ask" }); // it may have been ready before anybody listened
  }

  send(message) {
    this.element.contentWindow.postMessage(message, "*");
  }

  paint(changes) {
    if (changes.length) this.send({ type: "paint", changes });
  }
}
