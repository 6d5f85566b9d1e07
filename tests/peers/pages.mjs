// The script of the pages in a small stand-in for a browser: what closes a running answer, and what
// loads a page again. The first argument is the script's file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import vm from "node:vm";

class Element {
  listeners = {};
  children = [];
  value = "";
  addEventListener(name, listener) { this.listeners[name] = listener; }
  replaceChildren(...children) { this.children = children; }
  append(child) { this.children.push(child); }
  remove() { this.isRemoved = true; }
  focus() {}
}

const elements = { q: new Element(), search: new Element(), main: new Element(), told: new Element() };
const page = new Element(), streams = [];
let reloads = 0, timers = 0;
const location = { pathname: "/", search: "", reload: () => reloads++ };
class EventSource extends Element {
  constructor(address) { super(); this.address = address; streams.push(this); }
  close() { this.isClosed = true; }
}
function go(_state, _title, address) {
  [location.pathname, location.search] = [address.split("?")[0], "?" + address.split("?")[1]];
}
const browser = {
  location, EventSource, URLSearchParams,
  document: { getElementById: (id) => elements[id], createElement: () => new Element() },
  addEventListener: (name, listener) => page.addEventListener(name, listener),
  history: { pushState: go, replaceState: go },
  FormData: class { *[Symbol.iterator]() { yield ["q", elements.q.value]; } },
  setTimeout: () => ++timers, clearTimeout() {},
};
vm.runInNewContext(readFileSync(process.argv[2], "utf8"), browser);

function ask(words) {
  elements.q.value = words;
  elements.search.listeners.submit({ submitter: { id: "ask" }, preventDefault() {} });
  return streams.at(-1);
}

// A second question ends the first one, and typing ends either.
const first = ask("one");
const second = ask("two");
assert.equal(first.isClosed, true);
assert.equal(second.isClosed, undefined);
assert.equal(elements.main.children.length, 3);
elements.q.listeners.input();
assert.equal(second.isClosed, true);

// While an answer comes, its question, the evidence that was found and the verdicts are shown.
const coming = ask("shown"), [head, evidence, sentences] = elements.main.children;
assert.equal(head.children[0].textContent, "shown");
coming.listeners.step({ data: JSON.stringify({ step: "evidence", items: 1, places: ["n:a.md, line 3"] }) });
assert.equal(evidence.children[0].textContent, "n:a.md, line 3");
coming.listeners.sentence({ data: JSON.stringify({ draft: 1, verdict: "checked", text: "a" }) });
assert.equal(sentences.children[0].children[0].textContent, "checked");

// The sentences of a draft stay until those of a newer draft or of the answer come, and go with an
// answer that ends early.
const drafted = ask("drafts"), list = elements.main.children[2];
const shownAfter = (draft, text) => {
  drafted.listeners.sentence({ data: JSON.stringify({ draft, verdict: "checked", text }) });
  return list.children.map((item) => item.textContent).join();
};
assert.equal(shownAfter(1, "a"), "a");
assert.equal(shownAfter(1, "b"), "a,b");
assert.equal(shownAfter(2, "c"), "c");
assert.equal(shownAfter(null, "d"), "d");
assert.equal(list.isRemoved, undefined);
drafted.onerror();
assert.equal(list.isRemoved, true);

// A link to a place in the page that is shown loads nothing; another page is loaded.
const third = ask("three");
third.listeners.page({ data: JSON.stringify({ html: "" }) });
assert.equal(third.isClosed, true);
assert.equal(location.search, "?q=three");
// An answer that a record keeps has its address, which asks nothing.
ask("four").listeners.page({ data: JSON.stringify({ html: "", address: "/ask?run=4" }) });
assert.equal(location.search, "?run=4");
page.listeners.popstate();
assert.equal(reloads, 0);
location.search = "?q=one";
page.listeners.popstate();
assert.equal(reloads, 1);

// Two characters are a word where there are no blanks, and three elsewhere. What was found for other
// words does not stay.
location.pathname = "/";
for (const [words, isEnough] of [["ov", false], ["会", false], ["会議", true], ["oven", true]]) {
  elements.q.value = words;
  timers = 0;
  elements.main.children = ["old"];
  elements.q.listeners.input();
  assert.equal(timers, isEnough ? 1 : 0, words);
  assert.equal(elements.main.children[0] === "old", isEnough, words);
}
console.log("ok");
