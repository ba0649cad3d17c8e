// What is chosen for one item: kept as a draft at every change, so that a reload or a crash loses nothing.

const at = (id) => document.getElementById(id);
const REMOVE = "REMOVE";

export function title(verdict) {
  const words = verdict.replace("REFUSE_", "").replaceAll("_", " ").toLowerCase();
  return words[0].toUpperCase() + words.slice(1);
}

function made(tag, fields, ...inside) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...inside);
  return element;
}

export class Form {
  constructor(form, state, prefix) {
    Object.assign(this, { form, state, prefix, item: null, changed: false, busy: false });
    this.verdicts = Object.keys(state.texts.verdicts);
    at("precedence").textContent = this.verdicts
      .reduce((text, verdict) => text.replaceAll(verdict, title(verdict)), state.texts.precedence)
      .replaceAll(" > ", " › ");
    at("flag-list").replaceChildren(...Object.entries(state.flags).map(([flag, text]) =>
      made("label", { className: "pill" },
        made("input", { type: "checkbox", name: "flags", value: flag }), made("span", { textContent: text }))));
    at("note").maxLength = state.longest_note;
    form.addEventListener("input", () => this.change());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  get choices() {
    const said = this.item.votes.map(({ verdict }) => verdict);
    return said.length ? this.verdicts.filter((verdict) => said.includes(verdict)) : this.verdicts;
  }

  // Of a third person: the answers that go with ANSWER, those that were given.
  get answers() {
    const given = this.item.votes.map(({ answer }) => answer).filter(Boolean);
    return given.length ? given : ["yes", "no"];
  }

  // Shows an item with its draft, else with the vote it has.
  fill(item, vote) {
    this.item = item;
    const draft = this.draft(item.key);
    this.changed = Boolean(draft);
    at("question").textContent = item.question;
    this.offer();
    this.said(item.votes);
    const chosen = draft ?? vote ?? {};
    for (const name of ["verdict", "answer", "confidence"]) this.set(name, chosen[name]);
    this.offerSecond(chosen.alt);
    at("note").value = chosen.note ?? "";
    for (const box of this.form.querySelectorAll("[name=flags]")) box.checked = chosen.flags?.includes(box.value) ?? false;
    at("more").open = Boolean(chosen.alt || chosen.flags?.length || chosen.note);
    at("missing").textContent = "";
    this.tidy();
  }

  offer() {
    const third = this.item.votes.length > 0;
    const rows = this.choices.map((verdict) =>
      this.choice(verdict, title(verdict), this.state.texts.verdicts[verdict], this.verdicts.indexOf(verdict) + 1));
    if (third) rows.push(this.choice(REMOVE, "Remove the item", "neither of the two can stand", "R"));
    at("verdict-list").replaceChildren(...rows);
  }

  choice(value, name, meaning, key) {
    return made("label", { className: "choice" },
      made("input", { type: "radio", name: "verdict", value }),
      made("kbd", { textContent: key, ariaHidden: "true" }),
      made("span", {}, made("strong", { textContent: name }), " ", made("small", { textContent: meaning })));
  }

  said(votes) {
    at("said").hidden = votes.length === 0;
    const sure = ["", "a guess", "fairly sure", "sure"];
    at("said-list").replaceChildren(...votes.map((vote) => {
      const parts = [sure[vote.confidence]];
      if (vote.alt) parts.push(`also acceptable: ${title(vote.alt)}`);
      parts.push(...vote.flags.map((flag) => this.state.flags[flag].toLowerCase()));
      const answer = vote.answer ? `: ${vote.answer}` : "";
      const row = made("li", {}, made("strong", { textContent: title(vote.verdict) + answer }),
        made("span", { textContent: parts.join(" · ") }));
      if (vote.note) row.append(made("q", { textContent: vote.note }));
      return row;
    }));
  }

  offerSecond(chosen) {
    const first = this.value("verdict");
    const others = this.verdicts.filter((verdict) => verdict.startsWith("REFUSE_") && verdict !== first);
    at("alt").replaceChildren(made("option", { value: "", textContent: "None" }),
      ...others.map((verdict) => made("option", { value: verdict, textContent: title(verdict) })));
    at("alt").value = others.includes(chosen) ? chosen : "";
  }

  value(name) {
    return this.form.querySelector(`[name=${name}]:checked`)?.value ?? "";
  }

  set(name, value) {
    for (const input of this.form.querySelectorAll(`[name=${name}]`)) input.checked = input.value === String(value ?? "");
  }

  // What a vote says; fields that do not go with the verdict stay out.
  get chosen() {
    const verdict = this.value("verdict");
    return {
      verdict,
      answer: verdict === "ANSWER" ? this.value("answer") : "",
      alt: verdict.startsWith("REFUSE_") ? at("alt").value || null : null,
      confidence: Number(this.value("confidence")),
      flags: [...this.form.querySelectorAll("[name=flags]:checked")].map((box) => box.value),
      note: at("note").value,
    };
  }

  change() {
    this.changed = true;
    this.offerSecond(at("alt").value);
    this.tidy();
    try {
      localStorage.setItem(this.name(this.item.key), JSON.stringify(this.chosen));
    } catch {
      // a full or forbidden store costs the draft alone
    }
  }

  tidy() {
    const { verdict, alt, flags, note } = this.chosen;
    at("answer").hidden = verdict !== "ANSWER";
    for (const input of this.form.querySelectorAll("[name=answer]")) {
      input.disabled = !this.answers.includes(input.value);
      input.checked &&= !input.disabled;
      input.checked ||= !input.disabled && this.answers.length === 1;
    }
    at("alt-field").hidden = !verdict.startsWith("REFUSE_");
    const count = (alt ? 1 : 0) + flags.length + (note ? 1 : 0);
    at("more-count").textContent = count ? `(${count})` : "";
    at("save").classList.toggle("ready", !this.missing);
    if (!this.missing) at("missing").textContent = "";
  }

  get missing() {
    const { verdict, answer, confidence } = this.chosen;
    if (!verdict) return "Choose a verdict.";
    if (verdict === "ANSWER" && !answer) return "Say whether the answer is yes or no.";
    return confidence ? "" : "Say how sure you are.";
  }

  async submit() {
    if (this.busy) return;
    at("missing").textContent = this.missing;
    if (this.missing) return;
    this.wait(true);
    try {
      await this.onSave(this.chosen);
    } catch (error) {
      at("missing").textContent = `This vote was refused: ${error.message}`;
    } finally {
      this.wait(false);
    }
  }

  wait(busy) {
    this.busy = busy;
    at("save").setAttribute("aria-disabled", String(busy));
    at("save").textContent = busy ? "Saving …" : "Save and next";
  }

  // Acts on a single key and returns whether it meant something here.
  key(event) {
    const digit = Number(/^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1] ?? 0);
    const [verdict, letter] = [this.verdicts[digit - 1], event.key.toLowerCase()];
    if (verdict && event.shiftKey) {
      at("more").open = true;
      if ([...at("alt").options].some(({ value }) => value === verdict)) at("alt").value = verdict;
    } else if (verdict && this.choices.includes(verdict)) this.set("verdict", verdict);
    else if (digit > 6) this.set("confidence", digit - 6);
    else if (letter === "r" && this.item.votes.length) this.set("verdict", REMOVE);
    else if (["y", "n"].includes(letter) && this.value("verdict") === "ANSWER") this.set("answer", letter === "y" ? "yes" : "no");
    else return false;
    this.change();
    return true;
  }

  name(key) {
    return `${this.prefix()} ${key}`;
  }

  draft(key) {
    try {
      return JSON.parse(localStorage.getItem(this.name(key)));
    } catch {
      return null;
    }
  }

  forget(key) {
    localStorage.removeItem(this.name(key));
    if (this.item.key === key) this.changed = false;
  }
}
