// Keeps a draft: at once in this browser, and at the server as soon as it answers. Nothing is lost when either is killed.

const WAIT = 1500;
const LONGEST = 30000; // milliseconds: a server that took a request and has not answered by then is asked again
const PASSING = [408, 425, 429]; // statuses of a server that may take the same later, like those from 500 on

export class DraftKeeper {
  // `content` gives what is to be kept; `show` displays its state: "kept", "keeping", "away", "refused", "stale" or "out".
  constructor({ page, account, csrf }, draft, content, show) {
    this.url = `/api/pages/${page}`;
    this.csrf = csrf;
    this.revision = draft.revision;
    this.content = content;
    this.show = show;
    this.key = `draft ${account} ${page}`; // several people may use one browser
    this.isDirty = this.isBusy = this.isOver = this.isStale = false;
  }

  // What this browser has kept and the server has not.
  left() {
    try {
      const left = JSON.parse(localStorage.getItem(this.key));
      return left && left.revision > this.revision ? left : null;
    } catch {
      return null;
    }
  }

  changed() {
    if (this.isStale) return; // kept here, it would replace what the other window has tagged
    this.revision += 1;
    this.isDirty = true;
    try {
      localStorage.setItem(this.key, JSON.stringify(this.body()));
    } catch { /* a full or forbidden store: the server has it all the same */ }
    this.push();
  }

  body() {
    return { ...this.content(), revision: this.revision };
  }

  send(method, path, body) {
    const headers = { "X-CSRF-Token": this.csrf, "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(LONGEST);
    return fetch(this.url + path, { method, headers, signal, body: body ? JSON.stringify(body) : undefined });
  }

  async push() {
    if (this.isBusy || this.isOver) return;
    this.isBusy = true;
    while (this.isDirty && !this.isOver) {
      this.isDirty = false;
      this.show("keeping");
      const answer = await this.send("PUT", "/draft", this.body()).catch(() => null);
      if (answer?.ok) {
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
      this.isOver = this.isStale = true;
      this.show("stale");
      this.forget();
    } else if (status === 403 || status === 400) {
      this.isOver = true;
      this.show("out");
    } else if (status >= 400 && status < 500 && !PASSING.includes(status)) {
      this.show("refused"); // and asked again with the next change
    } else {
      // It may have come through and only its answer be lost, so the next try is a later revision.
      this.revision += 1;
      this.isDirty = true;
      this.show("away");
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch { /* as above */ }
  }

  async submit() {
    while (this.isBusy) await new Promise((resolve) => setTimeout(resolve, 50));
    if (this.isOver) return ""; // the keys were pressed again while the server took it
    this.isBusy = true;
    this.revision += 1;
    const answer = await this.send("POST", "/submission", this.body()).catch(() => null);
    this.isBusy = false;
    if (answer?.ok) {
      this.forget();
      this.isOver = true;
      return (await answer.json()).then;
    }
    this.refused(answer?.status);
    this.push();
    return "";
  }

  async prelabel() {
    const answer = await this.send("POST", "/prelabel").catch(() => null);
    return answer?.ok ? answer.json() : null;
  }
}
