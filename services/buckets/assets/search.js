"use strict";
// The fragment of the URL contains the search with the parameter names of the API, so that it can be
// shared and the history of the browser contains the pages.
const TEXTS = ["keywords", "extensions", "stopextensions", "buckets", "excluded-buckets", "types"];
const CHECKS = ["full-path", "regexp", "noautocorrect"];
const SIZES = ["size-from", "size-to"];
const DAYS = ["last-modified-from", "last-modified-to"];
const LABELS = {
  "extensions": "extension", "stopextensions": "without extension", "buckets": "bucket",
  "excluded-buckets": "without bucket", "types": "type", "size-from": "larger than",
  "size-to": "smaller than", "last-modified-from": "after", "last-modified-to": "before",
};
const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" };
const DEEPEST = 1000000;
const MODIFIERS = ["full-path", "regexp", "noautocorrect", "order", "direction", "limit", "start", "keywords"];
// The results that the package of the key can reach.
let depth = DEEPEST;
let account = null;
let running = null;
let downloading = null;

const asked = () => new URLSearchParams(location.hash.slice(1));

function go(parameters) {
  const before = location.hash;
  location.hash = parameters.toString();
  if (location.hash === before) search();
}

/** Returns the search in the form, from its first page. */
function fromForm() {
  const parameters = new URLSearchParams();
  const put = (name, value) => { if (value) parameters.set(name, value); };
  for (const name of TEXTS) put(name, field(name).value.trim());
  for (const name of CHECKS) put(name, field(name).checked ? "1" : "");
  for (const name of SIZES) put(name, bytes(field(name).value));
  for (const name of DAYS) {
    const day = field(name).value;
    put(name, day && String(Math.max(0, Date.parse(`${day}T00:00:00Z`) / 1000)));
  }
  const [order, direction] = field("order").value.split(" ");
  put("order", order);
  put("direction", direction);
  put("limit", field("limit").value);
  return parameters;
}

function toForm(parameters) {
  const value = (name) => parameters.get(name) || "";
  for (const name of TEXTS) field(name).value = value(name);
  for (const name of CHECKS) field(name).checked = value(name) === "1";
  for (const name of SIZES) field(name).value = value(name) && exactSize(value(name));
  for (const name of DAYS) field(name).value = time(Number(value(name))).slice(0, 10);
  field("order").value = value("order") ? `${value("order")} ${value("direction") || "asc"}` : "";
  field("limit").value = value("limit") || "50";
  if (!field("limit").value) field("limit").value = "50";
}

function button(text, title, act) {
  const made = element("button", text, "quiet");
  made.type = "button";
  made.title = title;
  made.addEventListener("click", () => act(made));
  return made;
}

/** Adds an item to a filter or removes it, and searches again. */
function filter(name, part, taken) {
  const parameters = asked();
  const parts = (parameters.get(name) || "").split(",").map((text) => text.trim()).filter(Boolean);
  const others = parts.filter((text) => text !== part);
  const left = taken ? others : [...others, part];
  if (left.length) parameters.set(name, left.join(","));
  else parameters.delete(name);
  parameters.delete("start");
  go(parameters);
}

function showFilters(parameters) {
  field("active").replaceChildren();
  for (const [name, label] of Object.entries(LABELS)) {
    const value = parameters.get(name);
    if (!value) continue;
    const text = (part) => SIZES.includes(name) ? exactSize(part) : DAYS.includes(name) ? time(Number(part)).slice(0, 10) : part;
    for (const part of value.split(",").map((one) => one.trim()).filter(Boolean)) {
      const chip = button(`${label} ${text(part)} ×`, "Remove this filter", () => filter(name, part, true));
      chip.className = "";
      const item = document.createElement("li");
      item.append(chip);
      field("active").append(item);
    }
  }
}

function showOrder(parameters) {
  for (const sort of document.querySelectorAll(".sort")) {
    const chosen = parameters.get("order") === sort.dataset.order;
    const direction = parameters.get("direction") === "desc" ? "descending" : "ascending";
    sort.parentElement.setAttribute("aria-sort", chosen ? direction : "none");
  }
}

function showFile(file) {
  const row = field("files").insertRow();
  const name = row.insertCell();
  const link = element("a", visible(file.filename || file.fullPath));
  link.href = file.url;
  link.rel = "noreferrer noopener";
  name.append(link, element("small", visible(file.fullPath)));
  name.append(button("Copy link", file.url, (made) => copy(file.url, made)));
  const ending = extension(file.filename);
  if (ending) name.append(button(`Only .${ending}`, "Only this extension", () => filter("extensions", ending)));
  cell(row, "Bucket", button(file.bucket, "Only this bucket", () => filter("buckets", file.bucket)))
    .append(element("small", file.type));
  cell(row, "Size", roughSize(file.size), "number").title = `${file.size} bytes`;
  cell(row, "Modified", date(file.lastModified), "date");
}

/** Returns true if an expression finds its text anywhere in a name, by itself or as corrected. */
function isOpen(expression, correction) {
  return correction.includes("added on both ends") || (expression.startsWith(".*") && expression.endsWith(".*"));
}

/** Returns suggestions after a search without results, given the notice about a corrected expression. */
function advice(parameters, correction = "") {
  const hints = [];
  const words = parameters.get("keywords");
  const isExpression = parameters.get("regexp") === "1";
  if ([...parameters.keys()].some((name) => !MODIFIERS.includes(name))) hints.push("Remove a filter.");
  if (words && isExpression && !isOpen(words, correction)) {
    hints.push("An expression must match the whole name: begin and end it with .*");
  } else if (words && isExpression) {
    hints.push("Try a shorter or less exact expression.");
  }
  if (words && !isExpression) {
    hints.push("Only whole words match: try fewer or other words, or a part of a word as a regular expression.");
  }
  if (words && parameters.get("full-path") !== "1") hints.push("Search the whole path instead of the file name.");
  return hints.length ? ["Nothing was found.", ...hints] : [];
}

function showPage(parameters, answer, took) {
  const { meta, files, query } = answer;
  const reach = Math.min(meta.results, depth);
  say(`${meta.results.toLocaleString("en")} ${meta.results === 1 ? "file" : "files"}, ${took} ms`);
  const hints = meta.results === 0 ? advice(parameters, meta.regexNotice) : [];
  field("notices").textContent = [meta.regexNotice, meta.notice, ...hints].filter(Boolean).join("\n");
  field("files").replaceChildren();
  files.forEach(showFile);
  const end = query.start + files.length;
  const place = `${(query.start + 1).toLocaleString("en")} to ${end.toLocaleString("en")}`;
  field("place").textContent = files.length ? place : "";
  field("page").value = Math.floor(query.start / query.limit) + 1;
  const pages = Math.max(1, Math.ceil(reach / query.limit));
  field("page").max = pages;
  field("pages").textContent = pages.toLocaleString("en");
  field("back").disabled = query.start === 0;
  field("on").disabled = files.length < query.limit || end >= reach;
  for (const name of ["csv", "ndjson"]) field(name).disabled = files.length === 0;
  field("request").textContent = `/${request(parameters)}`;
  showFilters(parameters);
  showOrder(parameters);
  show("result", true);
}

const request = (parameters) => `api/v2/files?${parameters}`;

async function search() {
  const parameters = asked();
  const searched = parameters.size > 0;
  show("examples", !searched);
  toForm(parameters);
  complainAboutKey("");
  if (running) running.abort();
  if (downloading) downloading.abort();
  document.title = `${parameters.get("keywords") || "Search open buckets"} · Bucket search`;
  if (!searched) { show("result", false); return say(""); }
  if (!key()) {
    show("result", false);
    say("");
    return complainAboutKey("A search needs a key: enter yours here, then search again.");
  }
  if (!parameters.has("limit")) parameters.set("limit", "50");
  running = new AbortController();
  say("Searching …");
  try {
    const began = performance.now();
    const answer = await ask(request(parameters), running.signal);
    const took = Math.round(performance.now() - began);
    await account;
    showPage(parameters, answer, took);
    await showFacets(parameters, answer.meta.results, running.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    show("result", false);
    const refused = error.code === "unauthorized";
    say(refused ? "" : error.message, true);
    if (refused) complainAboutKey("This key is unknown, revoked or expired.");
  }
}

async function showAccount() {
  sessionStorage.setItem("key", key());
  depth = DEEPEST;
  if (!key()) return;
  try {
    const { account: { name, package: plan, depth: reachable } } = await ask("api/account");
    depth = Math.min(reachable, DEEPEST);
    field("key-hint").textContent = `Key of ${name}, package ${plan}: the first ` +
      `${reachable.toLocaleString("en")} results of a search. It is only kept in this tab.`;
    complainAboutKey("");
  } catch (error) {
    if (error.code === "unauthorized") complainAboutKey("This key is unknown, revoked or expired.");
  }
}

/** Returns the parts of a body, and shows how much of it has arrived. */
async function received(response) {
  const parts = [];
  let size = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
    size += value.length;
    field("download-text").textContent = `${roughSize(size)} received`;
  }
}

async function download(name) {
  if (downloading) downloading.abort();
  const mine = downloading = new AbortController();
  show("download", true);
  show("download-stop", true);
  field("download-text").textContent = "Collecting files …";
  try {
    const parameters = asked();
    // A download has all files, not a page.
    for (const part of ["limit", "start"]) parameters.delete(part);
    const response = await respond(request(parameters), mine.signal, TYPES[name]);
    const count = (header) => Number(response.headers.get(header));
    const [files, results] = [count("x-files"), count("x-results")];
    save(await received(response), `files.${name}`, TYPES[name]);
    field("download-text").textContent = files >= results
      ? `All ${files.toLocaleString("en")} files are in files.${name}.`
      : `The first ${files.toLocaleString("en")} of ${results.toLocaleString("en")} files are in files.${name}: ` +
        "your package allows no more in a download, so narrow the search for the others.";
  } catch (error) {
    if (downloading !== mine) return;
    field("download-text").textContent = error.name === "AbortError" ? "Stopped." : error.message;
  }
  if (downloading === mine) show("download-stop", false);
}

function turn(page) {
  const parameters = asked();
  const limit = Number(parameters.get("limit")) || 50;
  const last = Number(field("page").max) || 1;
  const start = (Math.min(Math.max(1, page), last) - 1) * limit;
  if (start) parameters.set("start", String(start));
  else parameters.delete("start");
  go(parameters);
}

field("search").addEventListener("submit", (event) => { event.preventDefault(); go(fromForm()); });
field("pager").addEventListener("submit", (event) => { event.preventDefault(); turn(Number(field("page").value)); });
field("back").addEventListener("click", () => turn(Number(field("page").value) - 1));
field("on").addEventListener("click", () => turn(Number(field("page").value) + 1));
field("key").addEventListener("change", () => { account = showAccount(); });
field("copy-link").addEventListener("click", (event) => copy(location.href, event.target));
field("copy-curl").addEventListener("click", (event) => {
  const url = new URL(field("request").textContent.slice(1), document.baseURI);
  copy(`curl -H "Authorization: Bearer $KEY" '${url.href.replaceAll("'", "%27")}'`, event.target);
});
field("csv").addEventListener("click", () => download("csv"));
field("ndjson").addEventListener("click", () => download("ndjson"));
field("download-stop").addEventListener("click", () => downloading && downloading.abort());
for (const sort of document.querySelectorAll(".sort")) {
  sort.addEventListener("click", () => {
    const parameters = asked();
    const chosen = parameters.get("order") === sort.dataset.order;
    const next = !chosen ? "desc" : parameters.get("direction") === "desc" ? "asc" : "";
    for (const name of ["order", "direction", "start"]) parameters.delete(name);
    if (next) { parameters.set("order", sort.dataset.order); parameters.set("direction", next); }
    go(parameters);
  });
}
addEventListener("hashchange", search);
field("key").value = sessionStorage.getItem("key") || "";
account = showAccount();
search();
