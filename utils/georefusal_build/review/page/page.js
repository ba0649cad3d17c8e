// The review page: which item is shown, what is chosen, and where the reviewer is.

import { Form } from "/form.js";
import { Viewer } from "/viewer.js";
import { Votes, ask } from "/votes.js";

const at = (id) => document.getElementById(id);
const show = (id, text) => Object.assign(at(id), { textContent: text, hidden: !text });

let state, votes, form, place = null;
let seconds = { key: null, before: 0, since: null }; // time in view of the item shown

const viewer = new Viewer(at("viewer"), at("image"), at("zoom"));

function route() {
  const [reviewer, session, number] = location.hash.slice(1).split("/");
  return { reviewer: decodeURIComponent(reviewer), session: Number(session) - 1, number: Number(number) - 1 };
}

function go(...parts) {
  location.hash = parts.map((part) => encodeURIComponent(part)).join("/");
}

async function open() {
  const { reviewer, session, number } = route();
  try {
    if (!reviewer) return await chooseReviewer();
    if (votes?.reviewer !== reviewer) await enter(reviewer);
  } catch (error) {
    show("trouble", `This page cannot be opened: ${error.message}`);
    return;
  }
  const item = state.sessions[session]?.[number];
  if (item) showItem(session, number);
  else chooseSession(session);
}

async function chooseReviewer() {
  const { reviewers } = await ask("/api/reviewers");
  if (reviewers.length === 1) return go(reviewers[0]);
  place = null;
  list("Who are you?", "Your votes are kept under this name.", reviewers.map((name) => [name, "", `#${encodeURIComponent(name)}`]));
}

async function enter(reviewer) {
  if (votes) return location.reload(); // another reviewer: nothing of the first may stay
  votes = new Votes(reviewer, { trouble: (text) => show("trouble", text), arrived });
  state = await votes.open();
  form = new Form(at("form"), state, () => `review ${state.bundle} ${reviewer}`);
  form.onSave = save;
  votes.watch();
}

function done(session) {
  return state.sessions[session].filter(({ key }) => votes.latest.has(key)).length;
}

function chooseSession(finished) {
  place = null;
  const rows = state.sessions.map((session, index) => {
    const count = done(index);
    const next = session.findIndex(({ key }) => !votes.latest.has(key));
    const target = `#${encodeURIComponent(votes.reviewer)}/${index + 1}/${Math.max(next, 0) + 1}`;
    return [`Session ${index + 1}`, count === session.length ? "done" : `${count} of ${session.length}`, target];
  });
  const all = state.sessions.every((session, index) => done(index) === session.length);
  const ended = state.sessions[finished] && done(finished) === state.sessions[finished].length;
  const title = all ? "All done, thank you" : ended ? `Session ${finished + 1} is done` : "Sessions";
  const rest = ended ? "Every vote is saved. Take a break before the next session." : "Judge what the image shows, nothing else. Each vote is saved when you go on; you can stop at any time.";
  list(title, all ? "Every vote is saved. You may still open a session and change a vote; the later one counts." : rest, rows);
}

function list(title, text, rows) {
  at("item").hidden = true;
  at("start").hidden = false;
  at("progress").hidden = true;
  at("where").textContent = votes && state ? votes.reviewer : "";
  at("saved").textContent = "";
  at("start-title").textContent = title;
  at("start-text").textContent = text;
  at("choices").replaceChildren(...rows.map(([name, note, href]) => {
    const link = Object.assign(document.createElement("a"), { href });
    link.append(Object.assign(document.createElement("strong"), { textContent: name }), " ");
    link.append(Object.assign(document.createElement("span"), { textContent: note }));
    const row = document.createElement("li");
    row.append(link);
    return row;
  }));
  document.title = `${title} - Blind review`;
  at("start-title").focus();
}

function showItem(session, number) {
  const item = state.sessions[session][number];
  place = { session, number, item };
  at("start").hidden = true;
  at("item").hidden = false;
  show("elsewhere", "");
  at("no-image").hidden = true;
  at("image").hidden = false;
  at("image").src = `/images/${item.key}`;
  form.fill(item, votes.latest.get(item.key));
  at("back").disabled = number === 0;
  progress();
  seconds = { key: item.key, before: 0, since: document.hidden ? null : performance.now() };
  document.title = `Item ${number + 1} - Blind review`;
  scrollTo(0, 0);
  at("question").focus({ preventScroll: true });
}

function progress() {
  const { session, number, item } = place;
  const length = state.sessions[session].length;
  at("where").textContent = `${votes.reviewer} · session ${session + 1} of ${state.sessions.length} · item ${number + 1} of ${length}`;
  Object.assign(at("progress"), { max: length, value: done(session), hidden: false });
  at("progress").textContent = `${done(session)} of ${length}`;
  at("saved").textContent = votes.latest.has(item.key) ? "Vote saved" : "";
}

function step(by) {
  if (!place) return;
  const { session, number } = place;
  if (number + by < 0) return;
  if (number + by < state.sessions[session].length) go(votes.reviewer, session + 1, number + by + 1);
  else go(votes.reviewer, session + 1, "end");
}

async function save(choice) {
  const { session, number, item } = place;
  const before = state.sessions.slice(0, session).reduce((sum, one) => sum + one.length, 0);
  const vote = { ...choice, item_id: item.key, content: item.content, ms: inView(), order: before + number + 1 };
  await votes.save(vote);
  // what was chosen while a silent server was waited for is not in the vote: it stays, to be saved too
  if (form.item === item && JSON.stringify(form.chosen) !== JSON.stringify(choice)) return progress();
  form.forget(item.key);
  if (place?.item === item) step(1);
}

function inView() {
  return Math.round(seconds.before + (seconds.since === null ? 0 : performance.now() - seconds.since));
}

document.addEventListener("visibilitychange", () => {
  seconds = { ...seconds, before: inView(), since: document.hidden ? null : performance.now() };
});

function arrived(given) {
  if (!place) return chooseSession(route().session);
  progress();
  const here = given.some((vote) => vote.item_id === place.item.key);
  if (here && !form.changed) form.fill(place.item, votes.latest.get(place.item.key));
  show("elsewhere", here
    ? "You voted on this item in another tab. Both votes are kept; the later one counts."
    : "You are also voting in another tab. Both tabs are up to date.");
}

const ZOOMS = { "+": () => viewer.zoom(1.5), "=": () => viewer.zoom(1.5), "-": () => viewer.zoom(1 / 1.5), 0: () => viewer.fit() };
const STEPS = { b: () => step(-1), f: () => step(1) };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key === "Enter" && place) return form.submit();
  if (!place || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.matches("textarea, select") || !at("shortcuts").checked) return;
  if (event.key === "Enter" && !event.target.matches("a, button, summary, input")) return form.submit();
  const act = ZOOMS[event.key] ?? STEPS[event.key.toLowerCase()];
  if (act) act();
  else if (!form.key(event)) return;
  event.preventDefault();
});

at("zoom-in").onclick = ZOOMS["+"];
at("zoom-out").onclick = ZOOMS["-"];
at("zoom-fit").onclick = () => viewer.fit();
at("zoom-one").onclick = () => viewer.one();
at("back").onclick = () => step(-1);
at("forward").onclick = () => step(1);
at("image").onerror = () => {
  at("image").hidden = true;
  at("no-image").hidden = false;
};
at("shortcuts").checked = localStorage.getItem("review shortcuts") !== "off";
at("shortcuts").onchange = (event) => localStorage.setItem("review shortcuts", event.target.checked ? "on" : "off");
at("home").onclick = (event) => {
  event.preventDefault();
  go(...(votes ? [votes.reviewer] : []));
};
document.querySelector(".skip").onclick = (event) => {
  event.preventDefault(); // the hash says which item is shown
  (place ? at("question") : at("start-title")).focus();
};
addEventListener("hashchange", open);
open();
