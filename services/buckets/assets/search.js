"use strict";
const field = (id) => document.getElementById(id);
const PAGE = 50;
const TEXTS = ["keywords", "extensions", "stopextensions", "buckets", "excluded-buckets", "types"];
const CHECKS = ["full-path", "regexp", "noautocorrect"];
let start = 0;
let running = null;

field("key").value = sessionStorage.getItem("key") || "";

function bytes(text) {
  const match = /^\s*([\d.]+)\s*([kmgt]?)i?b?\s*$/i.exec(text);
  if (!match) return text.trim();
  const power = ["", "k", "m", "g", "t"].indexOf(match[2].toLowerCase());
  return String(Math.round(Number(match[1]) * 1024 ** power));
}

function size(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${unit && count < 10 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

function date(seconds) {
  const known = seconds > 0 && seconds < 8.64e12;
  return known ? new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") : "unknown";
}

function query() {
  const asked = new URLSearchParams();
  const put = (name, value) => { if (value) asked.set(name, value); };
  for (const name of TEXTS) put(name, field(name).value.trim());
  for (const name of CHECKS) put(name, field(name).checked ? "1" : "");
  put("size-from", bytes(field("size-from").value));
  put("size-to", bytes(field("size-to").value));
  for (const name of ["last-modified-from", "last-modified-to"]) {
    const day = field(name).value;
    put(name, day && String(Math.max(0, Date.parse(day + "T00:00:00Z") / 1000)));
  }
  const [order, direction] = field("order").value.split(" ");
  put("order", order);
  put("direction", direction);
  asked.set("limit", String(PAGE));
  if (start) asked.set("start", String(start));
  return asked;
}

async function ask(path) {
  const key = field("key").value.trim();
  sessionStorage.setItem("key", key);
  if (running) running.abort();
  running = new AbortController();
  const response = await fetch(path, {
    headers: key ? { authorization: `Bearer ${key}` } : {},
    signal: running.signal,
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error || `status ${response.status}`);
  return body;
}

function cell(row, label, text, kind) {
  const made = row.insertCell();
  made.dataset.label = label;
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function show(file) {
  const row = field("files").insertRow();
  const name = row.insertCell();
  const link = document.createElement("a");
  link.href = file.url;
  link.rel = "noreferrer noopener";
  link.textContent = file.filename || file.fullPath;
  const path = document.createElement("small");
  path.textContent = file.fullPath;
  name.append(link, path);
  cell(row, "Bucket", `${file.bucket} (${file.type})`);
  cell(row, "Size", size(file.size), "number").title = `${file.size} bytes`;
  cell(row, "Modified", date(file.lastModified), "date");
}

function tell(text, bad) {
  field("message").textContent = text;
  field("message").className = bad ? "bad" : "";
}

async function search() {
  const asked = query();
  const path = `api/v2/files?${asked}`;
  tell("Searching …");
  try {
    const began = performance.now();
    const answer = await ask(path);
    const took = Math.round(performance.now() - began);
    const results = answer.meta.results;
    tell(`${results.toLocaleString()} ${results === 1 ? "file" : "files"}, ${took} ms`);
    field("notices").textContent =
      [answer.meta.regexNotice, answer.meta.notice].filter(Boolean).join("\n");
    field("files").replaceChildren();
    answer.files.forEach(show);
    const end = start + answer.files.length;
    field("place").textContent = answer.files.length ? `${start + 1} to ${end}` : "";
    field("back").disabled = start === 0;
    field("on").disabled = answer.files.length < PAGE || end >= results;
    field("request").textContent = `/${path}`;
    field("result").hidden = false;
  } catch (error) {
    if (error.name === "AbortError") return;
    field("result").hidden = true;
    tell(error.message, true);
  }
}

field("search").addEventListener("submit", (event) => {
  event.preventDefault();
  start = 0;
  search();
});
field("back").addEventListener("click", () => { start = Math.max(0, start - PAGE); search(); });
field("on").addEventListener("click", () => { start += PAGE; search(); });
field("key").addEventListener("change", stats);

async function stats() {
  if (!field("key").value.trim()) return;
  try {
    const { stats, lastUpdated } = await ask("api/v2/stats");
    const buckets = Object.entries(stats).reduce(
      (sum, [name, count]) => name === "filesCount" ? sum : sum + count, 0);
    field("stats").textContent = `${stats.filesCount.toLocaleString()} files in ` +
      `${buckets.toLocaleString()} buckets, published ${date(lastUpdated)} UTC`;
  } catch (error) {
    if (error.name !== "AbortError") field("stats").textContent = "";
  }
}
stats();
