// Keeps a draft: at once in this browser, and at the server as soon as it answers. Nothing is lost when either is killed.

const WAIT = 1500;
const LONGEST = 30000; // milliseconds: a server that took a request and has not answered by then is asked again
const PASSING = [408, 425, 429]; // statuses of a server that may take the same later, like those from 500 on
const STEP = 2 ** 20; // two browsers that go on from one revision do not come to the same

export class DraftKeeper {
  // `content` gives what is to be kept; `show` displays its state: "kept", "keeping", "submitting", "away", "refused",
  // "stale" or "out".
  constructor({ page, whose, csrf }, draft, content, show) {
    this.url = `/api/pages/${page}`;
    this.csrf = csrf;
    this.draft = draft; // as the server has it
    this.revision = draft.revision;
    this.replaces = [draft.revision]; // what the server may have: the last that it has confirmed, and all sent since
    this.content = content;
    this.show = show;
    this.key = `draft ${whose} ${page}`; // several people may use one browser, and several stores one address
    this.isDirty = this.isBusy = this.isOver = this.isStale = this.isAsked = false;
    this.isSubmitting = this.lacksSubmission = false;
    this.sent = null; // the answer to the draft that was sent last
  }

  // What this browser has kept and the server has not.
  left() {
    try {
      const left = JSON.parse(localStorage.getItem(this.key));
      const isThere = !left || left.revision === this.draft.revision || JSON.stringify(left.marks) === JSON.stringify(this.draft.marks);
      return isThere ? null : left;
    } catch {
      return null;
    }
  }

  // Whether the server has something else than that was made from: another browser was there meanwhile.
  isOther(left) {
    return !left.replaces?.includes(this.draft.revision);
  }

  changed() {
    if (this.isStale || this.isAsked) return; // kept here, it would replace what is left or another window has tagged
    this.isDirty = true;
    this.hold();
    this.push();
  }

  hold() {
    this.revision += 1 + Math.floor(STEP * Math.random());
    try {
      localStorage.setItem(this.key, JSON.stringify(this.body()));
    } catch { /* a full or forbidden store: the server has it all the same */ }
  }

  body() {
    return { ...this.content(), revision: this.revision, replaces: this.replaces };
  }

  send(method, path, body) {
    const headers = { "X-CSRF-Token": this.csrf, "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(LONGEST);
    return fetch(this.url + path, { method, headers, signal, body: body ? JSON.stringify(body) : undefined });
  }

  // Sends the draft as it is now. If only the answer is lost, what comes next may replace it.
  offer(method, path) {
    if (!this.replaces.includes(this.revision)) this.replaces.push(this.revision);
    return this.send(method, path, this.body()).catch(() => null);
  }

  async push() {
    if (this.isBusy || this.isOver) return;
    this.isBusy = true;
    while (this.isDirty && !this.isOver && !this.isSubmitting) {
      this.isDirty = false;
      this.show("keeping");
      const revision = this.revision;
      this.sent = this.offer("PUT", "/draft");
      const answer = await this.sent;
      if (answer?.ok) {
        this.replaces = [revision];
        if (!this.isDirty) this.forget();
        this.show(this.isDirty ? "keeping" : "kept");
      } else {
        this.refused(answer?.status);
        if (this.isDirty) await new Promise((resolve) => setTimeout(resolve, WAIT));
      }
    }
    this.isBusy = false;
  }

  refused(status) {
    if (status === 409) {
      this.isOver = this.isStale = true; // what is left here is asked about when the page is loaded again
      this.show("stale");
    } else if (status === 403 || status === 400) {
      this.isOver = true;
      this.show("out");
    } else if (status >= 400 && status < 500 && !PASSING.includes(status)) {
      this.show("refused"); // and asked again with the next change
    } else {
      this.isDirty = true;
      this.show("away");
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch { /* as above */ }
  }

  // Goes on with what was left here. It may still be on its way to the server, and reach it now.
  resume(left) {
    this.replaces.push(...left.replaces, left.revision);
    this.changed();
  }

  // Goes on with what was left here, or with what the server has, as somebody has chosen.
  settle(isLeft) {
    this.isAsked = false;
    if (!isLeft) this.forget();
    this.changed();
  }

  // Submits what is tagged now, or says that it is not submitted; it is never submitted later.
  async submit() {
    if (this.isOver || this.isSubmitting) return ""; // the keys were pressed again while the server took it
    this.isSubmitting = true;
    this.lacksSubmission = false;
    this.show("submitting");
    await this.sent;
    if (this.isOver) {
      this.isSubmitting = false;
      this.lacksSubmission = true;
      this.show(this.isStale ? "stale" : "out");
      return "";
    }
    this.show("submitting");
    this.hold();
    const answer = await this.offer("POST", "/submission");
    if (answer?.ok) {
      this.forget();
      this.isOver = true;
      return (await answer.json()).then;
    }
    this.isSubmitting = false;
    this.lacksSubmission = true;
    this.hold(); // should it reach the server late, it finds another revision there
    this.refused(answer?.status);
    this.push();
    return "";
  }

  async prelabel() {
    const answer = await this.send("POST", "/prelabel").catch(() => null);
    return answer?.ok ? answer.json() : null;
  }
}
