/* The gallery: filters over the embedded items. Text of others is only ever set as text. */
(() => {
  const data = JSON.parse(document.getElementById("items").textContent);
  const form = document.getElementById("filters");
  const cards = document.getElementById("cards");
  const found = document.getElementById("found");
  const more = document.getElementById("more");
  const PAGE = 24;
  let shown = [];

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const said = (verdict) => verdict < 0 ? "no verdict" : data.verdicts[verdict];
  const at = (item, run) => data.replies[run][item];
  const runs = data.runs.map((_, run) => run);

  const disagree = (item) => {
    const verdicts = new Set(runs.map((run) => at(item, run)).filter(Boolean).map((reply) => reply[0]));
    return verdicts.size > 1;
  };

  const fill = (name, options, all) => {
    const select = form.elements[name];
    select.append(new Option(all, ""), ...options.map(([value, text]) => new Option(text, value)));
    if (options.length < 2) select.parentElement.hidden = true;
  };
  const distinct = (key) => [...new Set(data.items.map((item) => item[key]).filter(Boolean))].sort().map((value) => [value, value]);

  fill("run", data.runs.map((name, run) => [run, name]), "any model");
  fill("outcome", data.outcomes.map((name, number) => [number, name]), "any outcome");
  fill("gold", data.verdicts.map((name, number) => [number, name]), "any");
  fill("said", [...data.verdicts.map((name, number) => [number, name]), [-1, "no verdict"]], "anything");
  fill("category", distinct("category"), "any");
  fill("lever", distinct("lever"), "any");
  fill("intensity", distinct("intensity"), "any");
  fill("agree", runs.length < 2 ? [] : [["no", "disagree"], ["yes", "agree"]], "all");
  form.hidden = false;
  document.getElementById("no-script").hidden = true;

  const matching = () => {
    const want = Object.fromEntries(new FormData(form));
    const words = want.words.toLowerCase().split(/\s+/).filter(Boolean);
    const models = want.run === "" ? runs : [Number(want.run)];
    return data.items.map((_, place) => place).filter((place) => {
      const item = data.items[place];
      if (want.gold !== "" && item.gold !== data.verdicts[Number(want.gold)]) return false;
      for (const key of ["category", "lever", "intensity"]) if (want[key] !== "" && item[key] !== want[key]) return false;
      const text = `${item.id} ${item.question}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return false;
      if (want.agree !== "" && disagree(place) !== (want.agree === "no")) return false;
      return models.some((run) => {
        const reply = at(place, run);
        if (!reply) return want.run === "" && want.outcome === "" && want.said === "";
        if (want.outcome !== "" && reply[1] !== Number(want.outcome)) return false;
        if (want.said === "") return true;
        if (reply[0] === Number(want.said)) return true;
        /* an accepted second verdict stands on the diagonal of the matrix */
        return want.gold === want.said && data.outcomes[reply[1]] === "right";
      });
    });
  };

  const raw = (reply) => {
    const box = make("details");
    box.append(make("summary", "", "Raw reply"));
    const [start, omitted, end] = data.texts[reply[5]];
    const text = make("pre", "", start);
    text.dir = "auto";
    text.tabIndex = 0;
    text.setAttribute("aria-label", "Raw reply");
    if (omitted) text.append(make("span", "cut", `… ${omitted.toLocaleString("en")} characters left out …`), end);
    if (!start && !end) text.append(make("span", "cut", "(empty)"));
    box.append(text);
    return box;
  };

  const MARKS = { right: "✓" };
  const reply = (place, run) => {
    const box = make("div", "said");
    const one = at(place, run);
    const who = make("p", "who");
    who.append(make("bdi", "", data.runs[run]));
    box.append(who);
    if (!one) {
      box.append(make("p", "what", "– (not run on this item)"));
      return box;
    }
    const outcome = data.outcomes[one[1]];
    const what = make("p", "what", `${MARKS[outcome] ?? "✗"} ${said(one[0])}`);
    const how = [outcome, one[2] === "json" ? "" : one[2], one[3].replaceAll("_", " ")].filter(Boolean).join(", ");
    box.append(what, make("p", "quiet", how), raw(one));
    if (one[4]) {
      const answer = make("bdi", "", one[4]);
      what.append(" (", answer, ")");
    }
    return box;
  };

  const card = (place) => {
    const item = data.items[place];
    const element = make("li", "card");
    element.id = `item-${item.id}`;
    element.tabIndex = -1;
    const uri = data.images[data.shown[place]];
    const picture = make("div", "picture");
    if (uri) {
      const image = make("img");
      image.src = uri;
      image.alt = `Reduced picture of item ${item.id}`;
      image.decoding = "async";
      picture.append(image);
    } else picture.append(make("p", "quiet", "no picture"));
    const body = make("div", "body");
    const question = make("h3", "", item.question);
    question.dir = "auto";
    const facts = make("p", "facts");
    const link = make("a", "", item.id);
    link.href = `#item-${item.id}`;
    link.setAttribute("aria-label", `Link to item ${item.id}`);
    facts.append(link, ...[item.lever, item.intensity].filter(Boolean).map((fact) => make("bdi", "", fact)));
    const gold = make("p", "gold");
    const others = item.accept.filter((verdict) => verdict !== item.gold);
    gold.append("Gold: ", make("strong", "", item.gold), item.answer ? ` (${item.answer})` : "");
    if (others.length) gold.append(`; also accepted: ${others.join(", ")}`);
    body.append(question, facts, gold, ...runs.map((run) => reply(place, run)));
    element.append(picture, body);
    return element;
  };

  const showMore = (count = PAGE) => {
    const from = cards.childElementCount;
    cards.append(...shown.slice(from, from + count).map(card));
    more.hidden = cards.childElementCount >= shown.length;
    more.textContent = `Show ${Math.min(PAGE, shown.length - cards.childElementCount)} more`;
    return cards.children[from];
  };

  const update = () => {
    shown = matching();
    cards.replaceChildren();
    showMore();
    found.textContent = `${shown.length} of ${data.items.length} items`;
  };

  /* #item-… leads to an item, #gallery?gold=1&said=2 to a filtered gallery. */
  const follow = () => {
    const hash = decodeURIComponent(location.hash);
    if (hash.startsWith("#gallery?")) {
      const wanted = new URLSearchParams(hash.slice("#gallery?".length));
      form.reset();
      for (const [key, value] of wanted) if (form.elements[key]?.tagName === "SELECT") form.elements[key].value = value;
      update();
      document.getElementById("gallery").scrollIntoView();
      document.getElementById("gallery-title").focus({ preventScroll: true });
    } else if (hash.startsWith("#item-")) {
      const place = data.items.findIndex((item) => item.id === hash.slice("#item-".length));
      if (place < 0) return;
      if (!shown.includes(place)) { form.reset(); update(); }
      const missing = shown.indexOf(place) + 1 - cards.childElementCount;
      if (missing > 0) showMore(Math.ceil(missing / PAGE) * PAGE);
      cards.querySelectorAll(".found").forEach((each) => each.classList.remove("found"));
      const target = document.getElementById(hash.slice(1));
      target.classList.add("found");
      target.scrollIntoView({ block: "start" });
      target.focus({ preventScroll: true });
    }
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", update);
  form.addEventListener("reset", () => setTimeout(update));
  more.addEventListener("click", () => { const first = showMore(); if (first) first.focus(); });
  addEventListener("hashchange", follow);
  update();
  follow();
})();
