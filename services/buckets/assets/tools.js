"use strict";
// Sends requests with the key, makes elements, formats sizes and dates, copies text, and saves downloads.
const field = (id) => document.getElementById(id);
const key = () => field("key").value.trim();
const show = (id, shown) => { field(id).hidden = !shown; };
const UNITS = ["", "K", "M", "G", "T"];

const ask = async (path, signal) => parsed(await (await respond(path, signal, "application/json")).text());

async function respond(path, signal, accept) {
  const response = await fetch(path, { headers: { authorization: `Bearer ${key()}`, accept }, signal });
  if (response.ok) return response;
  const body = parsed(await response.text());
  const error = new Error(body.error || `status ${response.status}`);
  error.code = body.code;
  throw error;
}

function say(text, bad) {
  field("message").textContent = text;
  field("message").className = bad ? "bad" : "";
}

function complainAboutKey(text) {
  field("key-error").textContent = text;
  show("key-error", Boolean(text));
  if (text) field("key").setAttribute("aria-invalid", "true");
  else field("key").removeAttribute("aria-invalid");
  if (text) field("key").focus();
}

function element(name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function cell(row, label, content, kind) {
  const made = row.insertCell();
  made.dataset.label = label;
  made.append(content);
  if (kind) made.className = kind;
  return made;
}

/** Parses a size: "10 MB", "1.5 GiB", "2000". */
function bytes(text) {
  const match = /^\s*([\d.]+)\s*([kmgt]?)i?b?\s*$/i.exec(text);
  if (!match) return text.trim();
  // Larger numbers would be rounded.
  if (!match[2] && /^\d+$/.test(match[1])) return match[1];
  return String(Math.round(Number(match[1]) * 1024 ** UNITS.indexOf(match[2].toUpperCase())));
}

/** Returns the shortest text for an exact number of bytes. */
function exactSize(count) {
  let [size, unit] = [Number(count), 0];
  if (!Number.isSafeInteger(size)) return count;
  while (size && size % 1024 === 0 && unit < UNITS.length - 1) { size /= 1024; unit += 1; }
  return `${size} ${UNITS[unit]}B`;
}

function roughSize(count) {
  let unit = 0;
  while (count >= 1024 && unit < UNITS.length - 1) { count /= 1024; unit += 1; }
  return `${unit && count < 10 ? count.toFixed(1) : Math.round(count)} ${UNITS[unit]}${unit ? "i" : ""}B`;
}

/** Parses a response. Sizes that a number would round become strings. */
function parsed(text) {
  // Quotes within texts are escaped, so this is always a member.
  return JSON.parse(text.replace(/"size":(\d{16,})/g, '"size":"$1"'));
}

/** Replaces characters that are invisible or change the text direction with visible ones. */
function visible(text) {
  const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const code = (symbol) => symbol.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return text.replace(hidden, (symbol) => `\u27e8U+${code(symbol)}\u27e9`);
}

function time(seconds) {
  const known = seconds !== 0 && Math.abs(seconds) < 8.64e12;
  return known ? new Date(seconds * 1000).toISOString() : "";
}

function date(seconds) {
  return time(seconds).slice(0, 16).replace("T", " ") || "unknown";
}

/** Returns the extensions of a name, longest first: tar.gz, gz. */
function extension(name) {
  const match = /\.([a-z0-9]{1,8}(?:\.(?:gz|bz2|xz|zst|js|css|map))?)$/i.exec(name);
  return match ? match[1].toLowerCase() : "";
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers disable the clipboard API without TLS.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  button.disabled = true;
  setTimeout(() => { button.textContent = label; button.disabled = false; }, 1200);
}

function save(parts, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
