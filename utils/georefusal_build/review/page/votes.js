// What the server knows of this reviewer's votes, and how a vote gets there.

const POLL = 3000; // milliseconds
const STALE = Symbol("the server was started anew");

export class Votes {
  // tell: {trouble(text or ""), arrived(votes given in another tab)}
  constructor(reviewer, tell) {
    Object.assign(this, { reviewer, tell, seq: 0, latest: new Map(), saving: false });
  }

  async open() {
    const state = await ask(`/api/state?reviewer=${encodeURIComponent(this.reviewer)}`);
    this.token = state.token;
    this.take(state.votes);
    return state;
  }

  watch() {
    const look = () => document.visibilityState === "visible" && this.look();
    setInterval(look, POLL);
    document.addEventListener("visibilitychange", look);
    addEventListener("focus", look);
  }

  async look() {
    if (this.saving) return;
    try {
      const { votes } = await ask(`/api/votes?reviewer=${encodeURIComponent(this.reviewer)}&after=${this.seq}`);
      this.tell.trouble("");
      if (!this.saving && this.take(votes).length) this.tell.arrived(votes);
    } catch (error) {
      this.tell.trouble(silent(error));
    }
  }

  // Returns the votes that were new to this page.
  take(votes) {
    const fresh = votes.filter((vote) => vote.seq > this.seq);
    for (const vote of fresh) {
      this.latest.set(vote.item_id, vote);
      this.seq = vote.seq;
    }
    return fresh;
  }

  // Resolves once the vote is on the disk, however often the server has to be asked; throws when it refuses the vote.
  async save(vote) {
    this.saving = true;
    try {
      for (;;) {
        try {
          const { votes } = await this.post(vote);
          this.tell.trouble("");
          const others = this.take(votes).slice(0, -1);
          if (others.length) this.tell.arrived(others);
          return;
        } catch (error) {
          if (error instanceof Refused && error.reason !== STALE && error.status < 500) throw error;
          if (error.reason === STALE) this.token = (await this.state()) ?? this.token;
          else this.tell.trouble(`Not saved yet. ${silent(error)}`);
          await new Promise((resume) => setTimeout(resume, error.reason === STALE ? 50 : POLL / 2));
        }
      }
    } finally {
      this.saving = false;
    }
  }

  async state() {
    try {
      return (await ask(`/api/state?reviewer=${encodeURIComponent(this.reviewer)}`)).token;
    } catch {
      return null;
    }
  }

  post(vote) {
    const body = JSON.stringify({ ...vote, reviewer: this.reviewer, seen: this.seq });
    const headers = { "Content-Type": "application/json", "X-Review-Token": this.token };
    return ask("/api/vote", { method: "POST", headers, body });
  }
}

class Refused extends Error {
  constructor(status, content) {
    super(content.error ?? `status ${status}`);
    this.status = status;
    this.reason = content.token === "stale" ? STALE : null;
  }
}

function silent(error) {
  return error instanceof Refused
    ? `The server says: ${error.message}. What you chose is kept here; trying again.`
    : "The server does not answer. What you chose is kept here; start it again: georefusal build review serve";
}

export async function ask(address, options) {
  const response = await fetch(address, options);
  const content = await response.json();
  if (!response.ok) throw new Refused(response.status, content);
  return content;
}
