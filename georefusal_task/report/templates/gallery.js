/* What every gallery does: filters over the embedded items, cards, links to one item. Text of others is only ever set as
   text. `kindOf` says what is particular to a benchmark; see gallery_verdicts.js. */
const gallery = (kindOf) => {
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

  const at = (item, run) => data.replies[run][item];
  const runs = data.runs.map((_, run) => run);

  const raw = (place, title = "Raw reply") => {
    const box = make("details");
    box.append(make("summary", "", title));
    const [start, omitted, end] = data.texts[place];
    const text = make("pre", "", start);
    text.dir = "auto";
    text.tabIndex = 0;
    text.setAttribute("aria-label", title);
    if (omitted) text.append(make("span", "cut", `… ${omitted.toLocaleString("en")} characters left out …`), end);
    if (!start && !end) text.append(make("span", "cut", "(empty)"));
    box.append(text);
    return box;
  };

  const image = (place) => {
    const uri = data.images[data.shown[place]];
    if (!uri) return null;
    const element = make("img");
    element.src = uri;
    element.alt = `Reduced picture of item ${data.items[place].id}`;
    element.decoding = "async";
    return element;
  };

  const distinct = (key) => [...new Set(data.items.map((item) => item[key]).filter(Boolean))].sort().map((value) => [value, value]);
  const kind = kindOf({ data, make, raw, image, distinct, at });

  const models = () => form.elements.run.value === "" ? runs : [Number(form.elements.run.value)];
  const disagree = (item) => new Set(runs.map((run) => at(item, run)).filter(Boolean).map(kind.said)).size > 1;

  const fill = (name, options, all) => {
    const select = form.elements[name];
    select.append(new Option(all, ""), ...options.map(([value, text]) => new Option(text, value)));
    if (options.length < 2) select.parentElement.hidden = true;
  };
  fill("run", data.runs.map((name, run) => [run, name]), "any model");
  for (const [name, options, all] of kind.filters) fill(name, options, all);
  fill("agree", runs.length < 2 ? [] : [["no", "disagree"], ["yes", "agree"]], "all");
  form.hidden = false;
  document.getElementById("no-script").hidden = true;

  const matching = () => {
    const want = Object.fromEntries(new FormData(form));
    const words = want.words.toLowerCase().split(/\s+/).filter(Boolean);
    return data.items.map((_, place) => place).filter((place) => {
      const item = data.items[place];
      if (!kind.matches(item, want)) return false;
      const text = `${item.id} ${item.question}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return false;
      if (want.agree !== "" && disagree(place) !== (want.agree === "no")) return false;
      return models().some((run) => {
        const reply = at(place, run);
        if (!reply) return want.run === "" && kind.ofReplies.every((name) => want[name] === "");
        return kind.replyMatches(reply, want);
      });
    });
  };

  const reply = (place, run) => {
    const box = make("div", "said");
    const one = at(place, run);
    const who = make("p", "who");
    who.append(make("bdi", "", data.runs[run]));
    box.append(who);
    if (one) kind.reply(box, one, place, run);
    else box.append(make("p", "what", "– (not run on this item)"));
    return box;
  };

  const card = (place) => {
    const item = data.items[place];
    const element = make("li", "card");
    element.id = `item-${item.id}`;
    element.tabIndex = -1;
    const picture = make("div", "picture");
    picture.append(kind.picture(place, models()) ?? make("p", "quiet", "no picture"));
    const body = make("div", "body");
    const question = make("h3", "", item.question);
    question.dir = "auto";
    const facts = make("p", "facts");
    const link = make("a", "", item.id);
    link.href = `#item-${item.id}`;
    link.setAttribute("aria-label", `Link to item ${item.id}`);
    facts.append(link, ...kind.facts(item).filter(Boolean).map((fact) => make("bdi", "", fact)));
    const gold = make("p", "gold");
    kind.gold(gold, item);
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
};
