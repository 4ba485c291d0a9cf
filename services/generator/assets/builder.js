'use strict';
// Builds a schema of records, shows its first rows, and downloads or saves it.

// The preview is updated after this number of milliseconds without a change.
const PAUSE = 700;
// Rows of the preview.
const ROWS = 10;

const byId = (id) => document.getElementById(id);
const home = new URL('.', location.href);
let schema = { tables: [] };
let timer = 0;
let asked = 0;
// The error in the URL. It is shown until the schema changes.
let faultOfLink = '';

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

function say(text) {
  byId('said').textContent = text;
}

function problem(text) {
  byId('problem').textContent = text || faultOfLink;
  byId('problem').hidden = !byId('problem').textContent;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Returns a schema whose tables and fields can be shown. A schema of one table has its fields at the top.
function withTables(read) {
  if (isObject(read) && Array.isArray(read.fields)) return withTables({ tables: [{ name: 'records', rows: 100, ...read }] });
  if (!isObject(read) || !Array.isArray(read.tables)) throw new Error('it has neither tables nor fields');
  read.tables.forEach((table, at) => {
    if (!isObject(table)) throw new Error(`/tables/${at} is not an object`);
    table.fields ??= [];
    if (!Array.isArray(table.fields)) throw new Error(`/tables/${at}/fields is not an array`);
    const wrong = table.fields.findIndex((field) => !isObject(field));
    if (wrong >= 0) throw new Error(`/tables/${at}/fields/${wrong} is not an object`);
  });
  return read;
}

function encoded(text) {
  const bytes = new TextEncoder().encode(text);
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function decoded(text) {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
}

function input(text, attributes, change) {
  const element = make('input', { autocomplete: 'off', spellcheck: 'false', ...attributes });
  element.addEventListener('input', () => { change(element.value, element); changed(); });
  return make('label', { class: 'field' }, text, element);
}

function button(text, label, work) {
  const element = make('button', { type: 'button', 'aria-label': label }, text);
  element.addEventListener('click', work);
  return element;
}

// Moves an item of a list and keeps the focus on the same control of it.
function move(list, from, to, focus) {
  if (to < 0 || to >= list.length) return;
  list.splice(to, 0, ...list.splice(from, 1));
  show();
  focus(to);
  say(`Moved to place ${to + 1}.`);
}

function focusIn(table, place, name) {
  byId('tables').querySelector(`[data-place="${table}-${place}"] [data-control="${name}"]`)?.focus();
}

// The members with their own controls.
function controlled(field) {
  return hasPart(field) ? ['name', 'type', 'part'] : ['name', 'type'];
}

// The other members, as JSON without the outer braces.
function more(field) {
  const rest = Object.entries(field).filter(([member]) => !controlled(field).includes(member));
  return rest.length ? JSON.stringify(Object.fromEntries(rest)).slice(1, -1) : '';
}

function fieldRow(table, at, place) {
  const fields = schema.tables[at].fields;
  const field = fields[place];
  const type = make('select', { 'data-control': 'type' }, ...byId('types').content.cloneNode(true).children);
  type.value = field.type;
  // The members of each type chosen so far, because arrow keys pass other types on the way to one.
  const kept = {};
  let chosen = field.type;
  type.addEventListener('change', () => {
    const { name, type: before, nulls, ...members } = field;
    kept[chosen] = members;
    chosen = type.value;
    for (const member of Object.keys(members)) delete field[member];
    Object.assign(field, { type: chosen }, kept[chosen]);
    if (hasPart(field)) field.part ??= field.type === 'address' ? 'address' : 'fullName';
    // The list stays the same element, so that letters typed one after another find a type.
    drawRest();
    changed();
  });
  const name = input('Name', { value: field.name, maxlength: 64, 'data-control': 'name' }, (value) => { field.name = value; });
  if (type.value === '' && field.type !== undefined) {
    type.append(make('option', {}, String(field.type)));
    type.value = String(field.type);
  }
  const row = make('li', { 'data-place': `${at}-${place}` }, name, make('label', { class: 'field' }, 'Type', type));
  const part = make('select', { 'data-control': 'part' }, ...byId('parts').content.cloneNode(true).children);
  part.addEventListener('change', () => { field.part = part.value; changed(); });
  const partLabel = make('label', { class: 'field wide' }, 'Part', part);
  const rest = input('More', { class: 'more', placeholder: '"nulls": 0.1', 'data-control': 'more' }, (value, element) => {
    try {
      const read = JSON.parse(`{${value}}`);
      for (const member of Object.keys(field)) if (!controlled(field).includes(member)) delete field[member];
      Object.assign(field, read);
      element.removeAttribute('aria-invalid');
    } catch {
      element.setAttribute('aria-invalid', 'true');
    }
  });
  const drawRest = () => {
    part.value = field.part || (field.type === 'address' ? 'address' : 'fullName');
    partLabel.hidden = !hasPart(field);
    const members = rest.querySelector('input');
    members.value = more(field);
    members.removeAttribute('aria-invalid');
  };
  drawRest();
  row.append(partLabel);
  rest.classList.add('wide');
  const up = button('↑', `Move ${field.name} up`, () => move(fields, place, place - 1, (to) => focusIn(at, to, 'up')));
  const down = button('↓', `Move ${field.name} down`, () => move(fields, place, place + 1, (to) => focusIn(at, to, 'down')));
  up.dataset.control = 'up';
  down.dataset.control = 'down';
  const remove = button('Remove', `Remove ${field.name}`, () => {
    fields.splice(place, 1);
    show();
    focusIn(at, Math.min(place, fields.length - 1), 'name');
  });
  row.append(rest, make('div', { class: 'row' }, up, down, remove));
  row.addEventListener('keydown', (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || !by) return;
    event.preventDefault();
    const control = event.target.dataset.control || 'name';
    move(fields, place, place + by, (to) => focusIn(at, to, control));
  });
  return row;
}

function hasPart(field) {
  return ['person', 'address'].includes(field.type);
}

function free(names, stem) {
  let name = stem;
  for (let number = 2; names.includes(name); number += 1) name = `${stem}${number}`;
  return name;
}

function tableBox(table, at) {
  const name = input('Table', { value: table.name ?? '', maxlength: 64 }, (value) => { table.name = value; });
  const rows = input('Rows', { type: 'number', min: 0, value: table.rows ?? '', placeholder: table.childrenOf ? 'of its parent' : '10' }, (value) => {
    if (value === '') delete table.rows; else table.rows = Number(value);
  });
  const add = button('Add a field', `Add a field to ${table.name}`, () => {
    table.fields.push({ name: free(table.fields.map((field) => field.name), 'field'), type: 'sequence' });
    show();
    focusIn(at, table.fields.length - 1, 'name');
  });
  const remove = button('Remove the table', `Remove the table ${table.name}`, () => {
    schema.tables.splice(at, 1);
    show();
    byId('add-table').focus();
  });
  const list = make('ol', {}, ...table.fields.map((_, place) => fieldRow(table, at, place)));
  return make('fieldset', {}, make('legend', {}, `Table ${at + 1}`),
    make('div', { class: 'grid' }, name, rows), list, make('p', { class: 'row' }, add, ' ', remove));
}

// Shows the whole schema.
function draw() {
  byId('tables').replaceChildren(...schema.tables.map(tableBox));
  refresh();
}

// Shows the whole schema after a change.
function show() {
  faultOfLink = '';
  draw();
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function path(query) {
  const seed = byId('seed').value;
  const url = new URL('api/Records', home);
  url.search = query + (seed ? `&seed=${encodeURIComponent(seed)}` : '');
  return url;
}

function format() {
  const chosen = byId('format').value;
  const needsZip = schema.tables.length > 1 && /^(csv|ndjson)/.test(chosen);
  return `format=${chosen}${needsZip ? '&zip=true' : ''}`;
}

function headers(type = true) {
  const found = type ? { 'Content-Type': 'application/json' } : {};
  if (byId('key').value) found['X-Api-Key'] = byId('key').value.trim();
  return found;
}

function changed() {
  faultOfLink = '';
  refresh();
}

// Updates the text, the URL and the commands after a change, and after a pause the preview.
function refresh() {
  const text = JSON.stringify(schema);
  if (document.activeElement !== byId('json')) byId('json').value = JSON.stringify(schema, null, 1);
  const url = path(format()).href;
  const key = byId('key').value ? ' -H "X-Api-Key: $KEY"' : '';
  const [name, mark] = byId('format').value.split('&');
  const out = schema.tables.length > 1 && /csv|ndjson/.test(name) ? ' --out rows' : '';
  const seed = byId('seed').value ? ` --seed ${quoted(byId('seed').value)}` : '';
  byId('command').textContent = `curl -H 'Content-Type: application/json'${key} -d ${quoted(text)} -o rows ${quoted(url)}\n\n`
    + `generator records schema.json${seed} --format ${name}${mark ? ' --bom' : ''}${out}`;
  const member = key && ", 'X-Api-Key': key";
  byId('client').textContent = `const answer = await fetch(${JSON.stringify(url)}, {\n  method: 'POST',\n`
    + `  headers: { 'Content-Type': 'application/json'${member} },\n  body: JSON.stringify(${text}),\n});\nconst rows = await answer.${/^json/.test(name) ? 'json' : 'blob'}();`;
  clearTimeout(timer);
  timer = setTimeout(() => { if (!faultOfLink) share(); preview(); }, PAUSE);
  problem('');
}

// Writes the schema into the URL. Browsers limit how often a page may do this, so not at each letter.
function share() {
  history.replaceState(null, '', `#${encoded(JSON.stringify(schema))}`);
}

function shown(value) {
  if (value === null) return make('td', { class: 'soft' }, 'null');
  return make('td', {}, typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function rowsOf(name, rows) {
  const columns = Object.keys(rows[0] || {});
  const table = make('table', {}, make('caption', {}, name),
    make('thead', {}, make('tr', {}, ...columns.map((column) => make('th', { scope: 'col' }, column)))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...columns.map((column) => shown(row[column]))))));
  return make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': `Rows of ${name}` }, table);
}

function faults(answer) {
  const errors = Object.entries(answer.errors || { [answer.title || 'Error']: [answer.detail || ''] });
  return errors.flatMap(([pointer, texts]) => texts.map((text) => make('li', {}, make('code', {}, pointer), ` ${text}`)));
}

async function preview() {
  asked += 1;
  const mine = asked;
  try {
    const options = { method: 'POST', headers: headers(), body: JSON.stringify(schema) };
    const response = await fetch(path(`rows=${ROWS}&format=json`), options);
    const answer = await response.json();
    // A later change has sent another request.
    if (mine !== asked) return;
    byId('faults').replaceChildren(...(response.ok ? [] : faults(answer)));
    if (!response.ok) return;
    const tables = Array.isArray(answer) ? { [schema.tables[0].name || 'records']: answer } : answer;
    byId('preview').replaceChildren(...Object.entries(tables).map(([name, rows]) => rowsOf(name, rows)));
  } catch (error) {
    if (mine === asked) problem(`The service did not respond: ${error.message}`);
  }
}

async function download() {
  problem('');
  say('The rows are being made.');
  // The user may choose another format before the response is complete.
  const name = format().includes('zip') ? 'zip' : byId('format').value.split('&')[0].replace('copy', 'sql');
  try {
    const response = await fetch(path(format()), { method: 'POST', headers: headers(), body: JSON.stringify(schema) });
    if (!response.ok) {
      byId('faults').replaceChildren(...faults(await response.json()));
      return say('The service refused the schema: see the preview.');
    }
    const href = URL.createObjectURL(await response.blob());
    make('a', { href, download: `records.${name}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
    say('Downloaded.');
  } catch (error) {
    say('');
    problem(`The service did not respond: ${error.message}`);
  }
}

async function copyLink() {
  share();
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is copied.');
  } catch {
    say('The link is in the address of this page: copy it there.');
  }
}

// Requests saved schemas. Returns the response, or shows the error and returns null.
async function saved(method, name, body) {
  problem('');
  try {
    const target = new URL(`api/Schemas${name === undefined ? '' : `/${encodeURIComponent(name)}`}`, home);
    const response = await fetch(target, { method, headers: headers(body !== undefined), body });
    if (response.ok) return response;
    const answer = await response.json();
    const texts = Object.values(answer.errors || {}).flat();
    problem(response.status === 401 ? 'Saved schemas need a key.' : texts.join(' ') || answer.title);
  } catch (error) {
    problem(`The service did not respond: ${error.message}`);
  }
  return null;
}

// Lists the saved schemas and selects one of them, by default the first.
async function listSaved(chosen) {
  const response = await saved('GET');
  if (!response) return;
  const list = await response.json();
  byId('saved').replaceChildren(...list.map((one) => make('option', { value: one.name }, one.name)));
  if (chosen !== undefined) byId('saved').value = chosen;
  say(`${list.length} saved schemas.`);
}

async function save() {
  const name = byId('saved-name').value;
  if (!name) return problem('A saved schema needs a name.');
  if (await saved('PUT', name, JSON.stringify(schema))) await listSaved(name);
}

async function openSaved() {
  const name = byId('saved').value;
  const response = name && await saved('GET', name);
  if (!response) return;
  try {
    schema = withTables(await response.json());
  } catch (error) {
    return problem(`The saved schema cannot be shown: ${error.message}.`);
  }
  byId('saved-name').value = name;
  show();
}

async function removeSaved() {
  const name = byId('saved').value;
  // Select nothing. Otherwise, another click would remove the next schema.
  if (name && await saved('DELETE', name)) await listSaved('');
}

function readJson() {
  try {
    schema = withTables(JSON.parse(byId('json').value));
    byId('tables').replaceChildren(...schema.tables.map(tableBox));
    changed();
    say('');
  } catch (error) {
    say(`The JSON cannot be used: ${error.message}`);
  }
}

// Shows the schema in the URL. If it cannot be shown, shows the reason and keeps the current schema.
function openLink() {
  faultOfLink = '';
  if (location.hash.length < 2) return;
  let text = '';
  try {
    text = decoded(location.hash.slice(1));
  } catch {
    faultOfLink = 'The schema in the address is damaged: copy the whole link.';
  }
  try {
    if (!faultOfLink) schema = withTables(JSON.parse(text));
  } catch (error) {
    faultOfLink = `The schema in the address cannot be shown: ${error.message}.`;
  }
}

async function begin() {
  let examples = {};
  try {
    const contract = await (await fetch(new URL('openapi.json', home))).json();
    examples = contract.paths['/api/Records'].post.requestBody.content['application/json'].examples;
  } catch (error) {
    problem(`The document of the service cannot be read: ${error.message}`);
  }
  byId('ready').append(...Object.entries(examples).map(([name, one]) => make('option', { value: name }, one.summary)));
  byId('ready').addEventListener('change', () => {
    const chosen = examples[byId('ready').value];
    if (!chosen) return;
    schema = withTables(structuredClone(chosen.value));
    show();
  });
  schema = { tables: [{ name: 'people', rows: 1000, fields: [
    { name: 'id', type: 'sequence' },
    { name: 'name', type: 'person', part: 'fullName' },
    { name: 'email', type: 'person', part: 'email' },
    { name: 'city', type: 'person', part: 'city' },
  ] }] };
  openLink();
  byId('add-table').addEventListener('click', () => {
    const name = free(schema.tables.map((table) => table.name), 'table');
    schema.tables.push({ name, rows: 100, fields: [{ name: 'id', type: 'sequence' }] });
    show();
    focusIn(schema.tables.length - 1, 0, 'name');
  });
  byId('json').addEventListener('input', readJson);
  for (const id of ['seed', 'key', 'format']) byId(id).addEventListener('input', changed);
  byId('builder').addEventListener('submit', (event) => event.preventDefault());
  byId('download').addEventListener('click', download);
  byId('copy-link').addEventListener('click', copyLink);
  byId('save').addEventListener('click', save);
  byId('list-saved').addEventListener('click', () => listSaved(byId('saved').value || undefined));
  byId('open-saved').addEventListener('click', openSaved);
  byId('remove-saved').addEventListener('click', removeSaved);
  // Another link opened in this page changes only the fragment of the URL.
  addEventListener('hashchange', () => { openLink(); draw(); });
  draw();
}

begin();
