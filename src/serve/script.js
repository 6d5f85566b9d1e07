"use strict";
// Everything works without this: it only saves a key, a wait or a page.
const field = document.getElementById("q");
const form = document.getElementById("search");
const main = document.getElementById("main");
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
field.addEventListener("input", () => {
  clearTimeout(timer);
  answer?.end("Cancelled.");
  if (field.value.trim().length > 2) timer = setTimeout(search, 300);
});
async function search() {
  const mine = ++latest, response = await fetch(address("/"));
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (mine === latest) main.replaceChildren(...page.getElementById("main").childNodes);
}

// An answer, sentence by sentence; closing the connection cancels it.
form.addEventListener("submit", (event) => {
  if (event.submitter?.id !== "ask" || !field.value.trim()) return;
  event.preventDefault();
  clearTimeout(timer);
  latest++;
  answer?.end("");
  answer = ask(address("/ask"), new EventSource(address("/ask/stream")));
});
function ask(page, events) {
  const state = document.createElement("p"), cancel = document.createElement("button");
  const list = document.createElement("ul"), mine = { end };
  list.className = "claims";
  cancel.textContent = "Cancel";
  state.textContent = "Searching …";
  function end(text) {
    events.close();
    cancel.remove();
    state.textContent = text;
    if (answer === mine) answer = null;
  }
  cancel.addEventListener("click", () => end("Cancelled."));
  events.onerror = () => end("The server ended the answer.");
  events.addEventListener("step", (event) => {
    const step = JSON.parse(event.data);
    state.textContent = step.step === "evidence" ? `${step.items} passages are weighed …`
      : step.step === "asking" ? `${step.model} is asked …` : `${step.bytes} bytes came back …`;
  });
  events.addEventListener("sentence", (event) => {
    const { verdict, text } = JSON.parse(event.data), item = document.createElement("li");
    item.className = verdict;
    item.textContent = text;
    list.append(item);
  });
  events.addEventListener("page", (event) => {
    end("");
    main.innerHTML = JSON.parse(event.data).html;
    history.pushState(null, "", page);
    shown = here();
    main.focus();
  });
  main.replaceChildren(state, cancel, list);
  return mine;
}
// A link to a place in this page loads nothing.
addEventListener("popstate", () => { if (here() !== shown) location.reload(); });
