"use strict";
// Everything works without this: it only saves a key, a wait or a page.
const field = document.getElementById("q");
const form = document.getElementById("search");
const main = document.getElementById("main");
// What a screen reader says: how much was found, not all of it.
const told = document.getElementById("told");
// What the page shows, without the place in it, and the answer that is still coming.
const here = () => location.pathname + location.search;
let shown = here(), answer = null;
const address = (path) => path + "?" + new URLSearchParams(new FormData(form));

addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  field.focus();
});

// Search as you type: the page of the words so far, without leaving this one.
let timer = 0, latest = 0;
function enough(words) {
  const isEastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(words);
  return [...words].length >= (isEastAsian ? 2 : 3);
}
field.addEventListener("input", () => {
  clearTimeout(timer);
  latest++;
  answer?.end("Cancelled.");
  if (enough(field.value.trim())) timer = setTimeout(search, 300);
  // What was found for other words does not stay below these.
  else if (location.pathname === "/") tell("", "");
});
form.addEventListener("change", (event) => {
  if (event.target !== field && location.pathname === "/" && enough(field.value.trim())) search();
});
async function search() {
  const mine = ++latest, place = address("/");
  let page;
  try {
    const response = await fetch(place);
    page = new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    if (mine === latest) tell("The server does not answer.", "The server does not answer.");
    return;
  }
  const found = page.getElementById("main");
  if (mine !== latest || !found) return;
  main.replaceChildren(...found.childNodes);
  told.textContent = main.querySelector("h1, [role=alert]")?.textContent ?? "";
  go(place, page.title);
}
function tell(shownText, toldText) {
  const text = document.createElement("p");
  text.textContent = shownText;
  main.replaceChildren(text);
  told.textContent = toldText;
}
// The address of what is shown now, so that "Back" comes back to it.
function go(place, title) {
  if (location.pathname === place.split("?")[0]) history.replaceState(null, "", place);
  else history.pushState(null, "", place);
  document.title = title;
  shown = here();
}

// An answer, sentence by sentence as each passes; closing the connection cancels it. A sentence of a
// draft stays only until those of a newer draft or of the answer come, and goes if none comes.
form.addEventListener("submit", (event) => {
  if (event.submitter?.id !== "ask" || !field.value.trim()) return;
  event.preventDefault();
  clearTimeout(timer);
  latest++;
  answer?.end("");
  answer = ask(address("/ask"), field.value, new EventSource(address("/ask/stream")));
});
function ask(page, question, events) {
  const state = document.createElement("p"), cancel = document.createElement("button");
  const list = document.createElement("ul"), mine = { end };
  let shownDraft;
  list.className = "claims";
  cancel.textContent = "Cancel";
  say("Searching …");
  function say(text) {
    state.textContent = text;
    told.textContent = text;
  }
  function end(text) {
    events.close();
    cancel.remove();
    list.remove();
    say(text);
    if (answer === mine) answer = null;
  }
  cancel.addEventListener("click", () => { end("Cancelled."); field.focus(); });
  events.onerror = () => end("The server ended the answer.");
  events.addEventListener("step", (event) => {
    const step = JSON.parse(event.data);
    if (step.step === "evidence") say(`${step.items} passages are weighed …`);
    else if (step.step === "asking") say(`${step.model} is asked …`);
    else state.textContent = `${step.characters} characters came back …`;
  });
  events.addEventListener("sentence", (event) => {
    const { draft, verdict, text } = JSON.parse(event.data), item = document.createElement("li");
    item.className = verdict;
    item.textContent = text;
    if (draft !== shownDraft) list.replaceChildren();
    shownDraft = draft;
    list.append(item);
    if (draft !== null) told.textContent = `${list.children.length} sentences of a draft have passed so far.`;
  });
  events.addEventListener("page", (event) => {
    end("");
    main.innerHTML = JSON.parse(event.data).html;
    history.pushState(null, "", page);
    document.title = `${question} · local-agent`;
    shown = here();
    main.focus();
  });
  main.replaceChildren(state, cancel, list);
  return mine;
}
// A link to a place in this page loads nothing.
addEventListener("popstate", () => { if (here() !== shown) location.reload(); });
