"use strict";
const find = (id) => document.getElementById(id);
const [form, field, show, check, result] =
  ["form", "password", "show", "check", "result"].map(find);
let turn = 0;

async function sha1(text) {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"))
    .join("").toUpperCase();
}

async function range(prefix) {
  const answer = await fetch(`range/${prefix}`, {
    headers: { "Add-Padding": "true" }, credentials: "omit", referrerPolicy: "no-referrer",
  });
  if (!answer.ok) throw new Error(await answer.text());
  const lines = (await answer.text()).split("\r\n").filter(Boolean).map((line) => line.split(":"));
  return { total: lines.length, real: lines.filter(([, count]) => count !== "0") };
}

function present(kind, verdict, meaning, facts) {
  result.className = `notice ${kind}`.trim();
  find("verdict").textContent = verdict;
  find("meaning").textContent = meaning;
  find("facts").hidden = !facts;
  for (const [id, text] of Object.entries(facts || {})) find(id).textContent = text;
  result.hidden = false;
}

function judge(hash, { total, real }) {
  const [prefix, suffix] = [hash.slice(0, 5), hash.slice(5)];
  const found = real.find(([candidate]) => candidate === suffix);
  const facts = {
    prefix, suffix, sent: prefix,
    answer: `${total} lines, ${real.length} of them real, the others padding.`,
  };
  if (!found) {
    present("good", "Not on the list", "This password is not among the exposed ones that this " +
      "service knows. That does not make it strong: use a long one, and a different one everywhere.",
      facts);
    return;
  }
  const times = Number(found[1]);
  const often = times === 1 ? "once" : `${times.toLocaleString("en")} times`;
  present("bad", `Exposed: seen ${often}`, "This is how often the password appears in exposed " +
    "data. Attackers try such passwords first. Do not use it anywhere, and " +
    "change it wherever you do.", facts);
}

async function run() {
  const mine = ++turn;
  const password = field.value;
  if (password === "") { result.hidden = true; field.focus(); return; }
  if (!window.isSecureContext || !crypto.subtle) {
    present("", "This browser cannot hash here", "Browsers hash only on pages loaded over " +
      "HTTPS or from this computer. Open the page with its https address.");
    return;
  }
  check.disabled = true;
  result.setAttribute("aria-busy", "true");
  try {
    const hash = await sha1(password);
    const answer = await range(hash.slice(0, 5));
    if (mine === turn) judge(hash, answer);
  } catch (error) {
    if (mine === turn) present("", "No response", `The service did not respond: ${error.message}`);
  } finally {
    check.disabled = false;
    result.setAttribute("aria-busy", "false");
  }
}

form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
field.addEventListener("input", () => { turn += 1; result.hidden = true; });
show.addEventListener("click", () => {
  const visible = field.type === "password";
  field.type = visible ? "text" : "password";
  show.textContent = visible ? "Hide" : "Show";
  show.setAttribute("aria-pressed", String(visible));
});
