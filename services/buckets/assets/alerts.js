"use strict";
// Lists, saves and removes the saved searches of the key, and shows their new files. This browser stores the
// cursor up to which the user has read the files of each search.
const SHOWN = 25;

const placeName = (alert) => `alert ${alert.id} ${alert.createdAt}`;

function sayOfAlerts(text, bad) {
  field("alert-message").textContent = text;
  field("alert-message").className = bad ? "error" : "";
}

/** Sends a request. Returns the body of the response, if there is one. */
async function send(method, path, body) {
  const headers = { authorization: `Bearer ${key()}`, accept: "application/json" };
  if (body) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  const answer = text ? parsed(text) : null;
  if (response.ok) return answer;
  const error = new Error((answer && answer.error) || `status ${response.status}`);
  error.code = answer && answer.code;
  throw error;
}

/** Runs the action of a button, one at a time, and shows its error. */
async function attempt(control, action) {
  control.disabled = true;
  try {
    await action();
  } catch (error) {
    sayOfAlerts(error.message, true);
  }
  control.disabled = false;
}

function newFile(file) {
  const item = document.createElement("li");
  const link = element("a", visible(file.fullPath));
  link.href = file.url;
  link.rel = "noreferrer noopener";
  const size = `${roughSize(file.size)}, ${date(file.lastModified)}`;
  item.append(link, element("small", `${visible(file.bucket)}, ${size}`));
  return item;
}

/** Shows the next new files of an alert below it. */
async function showNew(alert, item, after) {
  const parameters = new URLSearchParams({ limit: SHOWN });
  if (after) parameters.set("after", after);
  let answer;
  try {
    answer = await send("GET", `api/v2/alerts/${alert.id}/files?${parameters}`);
  } catch (error) {
    if (error.code !== "after_expired") throw error;
    localStorage.removeItem(placeName(alert));
    return showNew(alert, item);
  }
  const list = item.querySelector("ul");
  if (!item.dataset.begun) list.replaceChildren();
  item.dataset.begun = "yes";
  list.append(...answer.files.map(newFile));
  const count = list.children.length;
  const plural = count === 1 ? "file" : "files";
  const { next, more } = answer.meta;
  sayOfAlerts(`${visible(alert.name)}: ${count || "no"} new ${plural}${more ? ", and more" : ""}`);
  const tools = item.querySelector(".found");
  tools.replaceChildren();
  if (more) tools.append(button("Show more", "The next new files", (made) => attempt(made, () => showNew(alert, item, next))));
  if (!count) return;
  tools.append(button("Mark as read", "Hide these files in this browser", () => {
    localStorage.setItem(placeName(alert), next);
    list.replaceChildren();
    tools.replaceChildren();
    sayOfAlerts(`${visible(alert.name)}: marked as read`);
    item.querySelector("button").focus();
  }));
}

function alertItem(alert) {
  const item = document.createElement("li");
  const title = element("a", visible(alert.name));
  title.href = `#${alert.query}`;
  title.title = "Search for all its files";
  const about = alert.webhook ? `since ${date(alert.createdAt)}, sent to ${visible(alert.webhook)}` : `since ${date(alert.createdAt)}`;
  const tools = element("span", "", "buttons");
  tools.append(button("What is new", "Files since the last ones that were marked as read", (made) => attempt(made, async () => {
    delete item.dataset.begun;
    await showNew(alert, item, localStorage.getItem(placeName(alert)));
  })));
  tools.append(button("Remove", "Remove this alert", (made) => {
    if (!confirm(`Remove the alert "${visible(alert.name)}"?`)) return;
    attempt(made, async () => {
      await send("DELETE", `api/v2/alerts/${alert.id}`);
      localStorage.removeItem(placeName(alert));
      await listAlerts();
      field("alerts").querySelector("summary").focus();
    });
  }));
  item.append(title, element("small", about), tools, document.createElement("ul"), element("span", "", "buttons found"));
  return item;
}

async function listAlerts() {
  const list = field("alert-list");
  if (!key()) {
    list.replaceChildren();
    return sayOfAlerts("Alerts need a key: enter yours above.");
  }
  try {
    const { alerts, meta } = await send("GET", "api/v2/alerts");
    list.replaceChildren(...alerts.map(alertItem));
    sayOfAlerts(`${meta.results} of ${meta.limit} alerts`);
  } catch (error) {
    list.replaceChildren();
    sayOfAlerts(error.message, true);
  }
}

async function saveAlert() {
  const parameters = fromForm();
  for (const name of ["order", "direction", "limit"]) parameters.delete(name);
  const name = field("alert-name").value.trim() || parameters.get("keywords") || parameters.toString();
  const webhook = field("alert-webhook").value.trim();
  const body = { name: name.slice(0, 100), query: parameters.toString() };
  if (webhook) body.webhook = webhook;
  const alert = await send("POST", "api/v2/alerts", body);
  field("alert-name").value = "";
  field("alert-webhook").value = "";
  await listAlerts();
  if (!alert.secret) return;
  sayOfAlerts(`Keep the secret that signs its messages, it is shown only now: ${alert.secret} `);
  field("alert-message").append(button("Copy secret", "Copy the secret", (made) => copy(alert.secret, made)));
}

field("alerts").addEventListener("toggle", () => { if (field("alerts").open) listAlerts(); });
field("key").addEventListener("change", () => { if (field("alerts").open) listAlerts(); });
field("alert-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(field("alert-save"), saveAlert);
});
