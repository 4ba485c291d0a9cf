"use strict";
// Shows the crawls that a key may see: its own, or all of them with a package for operators.
const UNITS_OF_TIME = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** Formats an interval in the largest unit that divides it. */
function interval(seconds) {
  const [name, length] = UNITS_OF_TIME.find((unit) => seconds % unit[1] === 0);
  return `${(seconds / length).toLocaleString("en")} ${name}`;
}

function stateOf(crawl, now) {
  if (crawl.running) return "running";
  if (crawl.until !== null && crawl.until <= now) return "ended";
  if (crawl.paused) return "paused";
  return crawl.dueAt <= now ? "due" : "waiting";
}

/** Returns the lines below the state. */
function notesOn(crawl) {
  const notes = [];
  const pages = crawl.pagesListed.toLocaleString("en");
  if (crawl.pagesListed) notes.push(`${pages} ${crawl.pagesListed === 1 ? "page" : "pages"} listed`);
  if (crawl.refusedSince !== null) notes.push(`refused since ${date(crawl.refusedSince)}`);
  if (crawl.hiddenSince !== null) notes.push(`hidden from searches since ${date(crawl.hiddenSince)}`);
  return notes;
}

function showCrawl(crawl, now) {
  const row = field("crawls").insertRow();
  const bucket = row.insertCell();
  bucket.append(element("strong", visible(crawl.bucket)));
  if (crawl.prefix) bucket.append(element("small", `below ${visible(crawl.prefix)}`));
  const owner = crawl.owner === null ? "the operator" : visible(crawl.owner);
  bucket.append(element("small", `crawl ${crawl.id} of ${owner}`));
  const state = stateOf(crawl, now);
  cell(row, "State", state).append(...notesOn(crawl).map((note) => element("small", note)));
  cell(row, "Every", interval(crawl.everySeconds))
    .append(...(crawl.until === null ? [] : [element("small", `until ${date(crawl.until)}`)]));
  cell(row, "Last run", crawl.lastAt === null ? "none" : date(crawl.lastAt), "date");
  const failed = crawl.outcome.startsWith("failed");
  cell(row, "Result", element("span", visible(crawl.outcome) || "none", failed ? "failed" : ""));
  const next = { waiting: date(crawl.dueAt), due: date(crawl.dueAt), running: "after this one" };
  cell(row, "Next run", next[state] || "none", "date");
}

let asking = new AbortController();

async function listCrawls() {
  // The response to an earlier key must not replace this one's.
  asking.abort();
  const { signal } = asking = new AbortController();
  complainAboutKey("");
  show("result", false);
  if (!key()) {
    say("");
    return complainAboutKey("Crawls need a key: enter yours here.");
  }
  sessionStorage.setItem("key", key());
  try {
    const { crawls, meta } = await ask("api/v2/crawls", signal);
    const now = Date.now() / 1000;
    field("crawls").replaceChildren();
    for (const crawl of crawls) showCrawl(crawl, now);
    show("result", crawls.length > 0);
    const count = meta.results.toLocaleString("en");
    say(`${count} ${meta.results === 1 ? "crawl" : "crawls"}, at ${date(Math.floor(now))} UTC`);
  } catch (error) {
    if (error.name === "AbortError") return;
    const refused = error.code === "unauthorized";
    say(refused ? "" : error.message, true);
    if (refused) complainAboutKey("This key is unknown, revoked or expired.");
  }
}

field("show-crawls").addEventListener("submit", (event) => { event.preventDefault(); listCrawls(); });
field("key").value = sessionStorage.getItem("key") || "";
if (key()) listCrawls();
