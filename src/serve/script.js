"use strict";
// Everything works without this: it only saves a key, a wait or a page.
const field = document.getElementById("q");
const form = document.getElementById("search");
const main = document.getElementById("main");
// What a screen reader says: how much was found, not all of it.
const told = document.getElementById("told");
const pages = document.getElementById("pages");
// What the page shows, without the place in it, and the answer that is still coming.
const here = () => location.pathname + location.search;
let shown = here(), answer = null;
const address = (path) => path + "?" + new URLSearchParams(new FormData(form));
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const showsAnswer = () => location.pathname === "/ask" && main.querySelector(".proof") !== null;

// Times of the server in the time and the words of the visitor.
function localTimes() {
  for (const time of main.querySelectorAll?.("time.moment") ?? []) {
    const at = new Date(time.dateTime);
    if (!isNaN(at)) time.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}
localTimes();

// What a link leads to may be folded.
function unfold() {
  let place = document.getElementById?.(decodeURIComponent(location.hash.slice(1)));
  for (; place && place !== main; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// A tap on a sentence shows the lines that it rests on.
main.addEventListener("click", (event) => {
  const sentence = event.target.closest?.("a.s");
  const proof = sentence && document.getElementById(sentence.hash.slice(1))?.parentElement;
  for (const lines of proof?.querySelectorAll("details") ?? []) lines.open = true;
});

addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  field.focus();
});

// The open filters close with Escape, or with a click elsewhere.
const filters = form.querySelector?.("details");
addEventListener("click", (event) => { if (filters?.open && !filters.contains(event.target)) filters.open = false; });
form.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !filters?.open) return;
  filters.open = false;
  filters.querySelector("summary").focus();
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
  const words = field.value.trim();
  // An answer stays until the field is sent or cleared.
  if (words && showsAnswer()) return;
  if (enough(words)) timer = setTimeout(search, 300);
  // What was found for other words does not stay below these.
  else if (location.pathname === "/" || showsAnswer()) clear();
  else return;
  if (!words) home();
});
// An empty field leads back to the first page, with its address.
async function home() {
  const mine = latest;
  go("/", "Notes · local-agent");
  const page = await pageAt("/");
  if (mine === latest && page.content) show(page);
}
form.addEventListener("change", (event) => {
  if (event.target !== field && location.pathname === "/" && enough(field.value.trim())) search();
});
async function search() {
  const mine = ++latest, place = address("/"), page = await pageAt(place);
  if (mine !== latest) return;
  show(page);
  go(place, page.title);
}
// The page at an address; if the server refuses it, the page that says why, and what mends it.
async function pageAt(place) {
  const title = "Not done · local-agent";
  try {
    const response = await fetch(place, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const content = page.getElementById("main"), isRefused = !response.ok;
    if (content) return { content, isRefused, title: page.title };
    return { failure: `The server answered with the status ${response.status}.`, isRefused: true, title };
  } catch {
    return { failure: "The server does not answer.", isRefused: true, title };
  }
}
function show(page) {
  if (page.content) {
    main.replaceChildren(...page.content.childNodes);
    localTimes();
    told.textContent = main.querySelector("h1, [role=alert]")?.textContent ?? "";
    return;
  }
  const failure = document.createElement("p"), mend = document.createElement("p");
  const command = document.createElement("code");
  failure.className = "failed";
  failure.textContent = page.failure;
  command.textContent = "local-agent serve status";
  mend.append("To find the reason: ", command);
  main.replaceChildren(failure, mend);
  told.textContent = page.failure;
}
function clear() {
  main.replaceChildren();
  told.textContent = "";
}
// The address of what is shown now, so that "Back" comes back to it.
function go(place, title) {
  if (location.pathname === place.split("?")[0]) history.replaceState(null, "", place);
  else history.pushState(null, "", place);
  isAt(title);
}
// What the title and the navigation say of the page at the address: a search, or an answer.
function isAt(title) {
  document.title = title;
  shown = here();
  for (const link of pages?.querySelectorAll("a") ?? []) {
    if (link.getAttribute("href") !== "/") link.removeAttribute("aria-current");
    else link.setAttribute("aria-current", location.pathname === "/" ? "page" : "true");
  }
}

// An answer, sentence by sentence as each passes; closing the connection cancels it. A sentence of a
// draft stays only until those of a newer draft or of the answer come, and goes if none comes.
form.addEventListener("submit", (event) => {
  if (event.submitter?.id !== "ask" || !field.value.trim()) return;
  event.preventDefault();
  clearTimeout(timer);
  latest++;
  answer?.end("");
  answer = ask(address("/ask"), new EventSource(address("/ask/stream")));
});
function ask(place, events) {
  const head = document.createElement("div"), evidence = document.createElement("ul");
  const question = document.createElement("h1"), work = document.createElement("p");
  const state = document.createElement("span"), cancel = document.createElement("button");
  const list = document.createElement("ul"), mine = { end };
  let shownDraft;
  head.className = "asked";
  work.className = "working";
  list.className = "claims coming";
  evidence.className = "plain found";
  question.dir = "auto";
  question.textContent = field.value.trim();
  cancel.textContent = "Cancel";
  cancel.type = "button";
  work.append(state);
  work.append(cancel);
  head.append(question);
  head.append(work);
  say("Searching …");
  function say(text) {
    state.textContent = text;
    told.textContent = text;
  }
  function end(text) {
    events.close();
    cancel.remove();
    list.remove();
    evidence.remove();
    work.className = "meta";
    say(text);
    if (answer === mine) answer = null;
  }
  function found(places) {
    evidence.replaceChildren();
    for (const place of places) {
      const item = document.createElement("li");
      item.textContent = place;
      evidence.append(item);
    }
  }
  cancel.addEventListener("click", () => { end("Cancelled."); field.focus(); });
  events.onerror = () => {
    end("The server ended the answer. Ask again.");
    explain();
  };
  events.addEventListener("step", (event) => {
    const step = JSON.parse(event.data);
    if (step.step === "evidence") {
      say(`Weighing ${counted(step.items, "passage")} …`);
      found(step.places ?? []);
    } else if (step.step === "asking") say(`Asking ${step.model} …`);
    else state.textContent = `${counted(step.characters, "character")} came back …`;
  });
  events.addEventListener("sentence", (event) => {
    const { draft, verdict, text } = JSON.parse(event.data), item = document.createElement("li");
    const badge = document.createElement("span");
    item.className = verdict;
    item.textContent = text;
    badge.className = "badge";
    badge.textContent = verdict;
    item.append(badge);
    if (draft !== shownDraft) list.replaceChildren();
    shownDraft = draft;
    list.append(item);
    if (draft !== null) told.textContent = `Passed so far: ${counted(list.children.length, "sentence")} of a draft.`;
  });
  events.addEventListener("page", (event) => {
    const { html, title, address } = JSON.parse(event.data);
    end("");
    main.innerHTML = html;
    localTimes();
    // The address of the answer: "Back" and "Reload" show it again, and ask nothing.
    history.pushState(null, "", address ?? place);
    isAt(title);
    main.focus();
  });
  main.replaceChildren(head, evidence, list);
  return mine;
}
// A stream does not say why it was refused. The page without a question does nothing, and is refused
// for the same reason.
async function explain() {
  const mine = latest, page = await pageAt("/ask");
  if (mine === latest && page.isRefused) show(page);
}
// A link to a place in this page loads nothing.
addEventListener("popstate", () => { if (here() !== shown) location.reload(); });
