'use strict';
// Shows a form for every operation of the OpenAPI document, sends it, and shows the response.

// Maximum length of a response to read, in characters. Some responses are endless.
const LONGEST = 200_000;
// Maximum size of a workbook or an archive, in bytes. The page keeps it in memory.
const LARGEST = 64 << 20;

const WORKBOOK = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
// Media types that a request can accept, with their names on the page.
const FORMS = new Map([
  ['application/json', 'JSON'],
  ['text/csv', 'CSV'],
  ['application/x-ndjson', 'NDJSON, a value per line'],
  [WORKBOOK, 'Workbook of Excel (xlsx)'],
]);

const byId = (id) => document.getElementById(id);
const home = new URL('.', location.href);
const lists = new Map();
let contract = {};
let operations = [];
let answer = null;
// Aborts the running request.
let stop = new AbortController();

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

function problem(text) {
  byId('problem').textContent = text;
  byId('problem').hidden = !text;
}

// Returns a schema with its references resolved and without null.
function plain(schema) {
  let found = schema || {};
  while (found.$ref) {
    found = found.$ref.slice(2).split('/').reduce((part, name) => part[name], contract);
  }
  const choices = found.oneOf || found.anyOf;
  if (choices) found = { ...found, ...plain(choices.find((one) => one.type !== 'null')) };
  const type = Array.isArray(found.type) ? found.type.find((one) => one !== 'null') : found.type;
  return { ...found, type };
}

function readOperations() {
  for (const [path, methods] of Object.entries(contract.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId) operations.push({ path, method: method.toUpperCase(), ...operation });
    }
  }
}

function current() {
  return operations.find((operation) => operation.operationId === byId('operation').value);
}

// Returns the initial value of a field. The initial values make a valid request.
function start(parameter, schema) {
  const example = parameter.example ?? schema.example;
  // The description says so if another parameter makes this one necessary.
  const needed = parameter.required || /Required\s+if /.test(parameter.description || '');
  if (!needed) return '';
  if (example !== undefined) return String(example);
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'boolean') return 'true';
  if (schema.type === 'integer') return String(Math.min(5, schema.maximum ?? 5));
  return '';
}

function control(parameter, schema) {
  const id = `parameter-${parameter.name}`;
  const value = start(parameter, schema);
  const words = schema.enum || (schema.type === 'boolean' ? ['true', 'false'] : null);
  if (words) {
    const options = words.map((word) => make('option', { value: word, selected: word === value }, word));
    if (!parameter.required) {
      const usual = schema.default === undefined ? '–' : `– (${schema.default})`;
      options.unshift(make('option', { value: '' }, usual));
    }
    return make('select', { id, name: parameter.name }, ...options);
  }
  const kind = schema.type === 'integer' ? 'number' : schema.format === 'date' ? 'date' : 'text';
  const listed = /from\s+`(\/api\/[^`]+)`/.exec(parameter.description || '');
  const input = make('input', {
    id, name: parameter.name, type: kind, value, required: parameter.required,
    min: schema.minimum, max: schema.maximum, maxlength: schema.maxLength,
    placeholder: schema.default ?? (kind === 'text' ? schema.example ?? parameter.example : undefined),
    autocomplete: 'off', spellcheck: 'false', list: listed ? `list-of-${parameter.name}` : undefined,
  });
  if (!listed) return input;
  const choices = make('datalist', { id: `list-of-${parameter.name}` });
  fillChoices(listed[1], choices);
  const both = document.createDocumentFragment();
  both.append(input, choices);
  return both;
}

// Offers the values that another operation lists. They are fetched once.
async function fillChoices(path, choices) {
  try {
    if (!lists.has(path)) lists.set(path, fetch(new URL(path.slice(1), home)).then((got) => got.json()));
    const values = await lists.get(path);
    choices.replaceChildren(...values.map((value) => (typeof value === 'string'
      ? make('option', { value })
      : make('option', { value: value.countryCode || value.code }, value.name))));
  } catch {
    lists.delete(path);
  }
}

function field(parameter) {
  const schema = plain(parameter.schema);
  const name = make('span', { class: parameter.required ? 'required' : undefined }, parameter.name);
  const text = (parameter.description || '').replaceAll('`', '');
  const label = make('label', { class: 'field' }, name, control(parameter, schema));
  if (text) label.append(make('small', {}, text));
  return label;
}

/* Formats JSON with one line per field. */
function written(value) {
  const isFlat = (inner) => Object.values(inner).every((part) => (
    typeof part !== 'object' || (Array.isArray(part) && part.every((item) => typeof item !== 'object'))));
  const fold = (inner, indent) => {
    if (typeof inner !== 'object' || inner === null || (isFlat(inner) && indent)) return JSON.stringify(inner);
    const [open, close] = Array.isArray(inner) ? '[]' : '{}';
    const deeper = `${indent} `;
    const lines = Object.entries(inner).map(([name, part]) => (
      deeper + (Array.isArray(inner) ? '' : `${JSON.stringify(name)}: `) + fold(part, deeper)));
    return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
  };
  return fold(value, '');
}

function showReady() {
  const body = Object.values(current().requestBody.content)[0];
  byId('body').value = written(body.examples[byId('ready').value].value);
  showCommand();
}

function showOperation() {
  // The response to the previous operation must not be shown below the new one.
  stop.abort();
  const operation = current();
  const text = (operation.description || '').replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ');
  byId('about').textContent = `${operation.method} ${operation.path}. ${text}`;
  byId('fields').replaceChildren(...(operation.parameters || []).map(field));
  const body = operation.requestBody && Object.values(operation.requestBody.content)[0];
  byId('body-field').hidden = !body;
  byId('ready-field').hidden = !body?.examples;
  if (body) {
    const schema = plain(body.schema);
    const members = Object.entries(schema.properties || {});
    const example = Object.fromEntries(members.map(([name, member]) => [name, plain(member).example ?? '']));
    const ready = Object.entries(body.examples || {});
    byId('ready').replaceChildren(...ready.map(([name, { summary }]) => make('option', { value: name }, summary)));
    byId('body').value = written(ready.length ? ready[0][1].value : example);
    byId('body').rows = ready.length ? 16 : 4;
  }
  const types = Object.keys(operation.responses['200']?.content || {}).filter((type) => FORMS.has(type));
  byId('accept').replaceChildren(...types.map((type) => make('option', { value: type }, FORMS.get(type))));
  byId('accept-field').hidden = types.length < 2;
  byId('answer').hidden = true;
  history.replaceState(null, '', `#${operation.operationId}`);
  showCommand();
}

function request() {
  const operation = current();
  let path = operation.path;
  const query = new URLSearchParams();
  for (const parameter of operation.parameters || []) {
    const value = byId(`parameter-${parameter.name}`).value;
    if (parameter.in === 'path') {
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(value || '-'));
    } else if (value !== '') {
      query.append(parameter.name, value);
    }
  }
  const url = new URL(path.slice(1), home);
  url.search = query;
  const headers = {};
  if (!byId('accept-field').hidden) headers.Accept = byId('accept').value;
  if (byId('key').value) headers['X-Api-Key'] = byId('key').value.trim();
  const sends = !byId('body-field').hidden;
  if (sends) headers['Content-Type'] = 'application/json';
  return { method: operation.method, url, headers, body: sends ? byId('body').value : undefined };
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function showCommand() {
  const { method, url, headers, body } = request();
  const parts = ['curl'];
  if (method !== 'GET') parts.push('-X', method);
  for (const [name, value] of Object.entries(headers)) {
    parts.push('-H', name === 'X-Api-Key' ? '"X-Api-Key: $KEY"' : quoted(`${name}: ${value}`));
  }
  if (body !== undefined) parts.push('-d', quoted(body.replaceAll(/\s*\n\s*/g, '')));
  const isBook = headers.Accept === WORKBOOK || url.searchParams.get('format') === 'xlsx';
  const kind = url.searchParams.get('zip') === 'true' ? 'zip' : isBook ? 'xlsx' : '';
  if (kind) parts.push('-o', `${current().operationId}.${kind}`);
  parts.push(quoted(url.href));
  byId('curl').textContent = parts.join(' ');
  byId('copied').textContent = '';
}

// Reads a response up to the maximum length and aborts the rest.
async function read(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text, whole: true };
    text += decoder.decode(value, { stream: true });
    if (text.length > LONGEST) {
      stop.abort();
      return { text: text.slice(0, LONGEST), whole: false };
    }
  }
}

function pretty(text, type) {
  if (!/json/.test(type) || /ndjson/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Keeps workbooks and archives whole and does not show them. A part of one cannot be opened.
async function fileOf(response) {
  const parts = [];
  let size = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > LARGEST) {
      stop.abort();
      const text = `The file has more than ${LARGEST >> 20} MiB, the most that this page keeps. Use the command.`;
      return { content: null, text, note: '' };
    }
  }
  return { content: new Blob(parts), text: `A file of ${size} bytes. Download it to open it.`, note: '' };
}

async function textOf(response, type) {
  const { text, whole } = await read(response);
  const note = whole ? '' : 'Only the beginning was read. The command has all of it.';
  return { content: text, text: whole ? pretty(text, type) : text, note };
}

async function send() {
  const { method, url, headers, body } = request();
  stop = new AbortController();
  byId('send').disabled = true;
  byId('stop').disabled = false;
  problem('');
  try {
    const started = performance.now();
    const response = await fetch(url, { method, headers, body, signal: stop.signal });
    const type = response.headers.get('content-type') || '';
    const isFile = type === WORKBOOK || type === 'application/zip';
    const { content, text, note } = await (isFile ? fileOf(response) : textOf(response, type));
    const isOther = response.ok && headers.Accept === WORKBOOK && !isFile;
    const seed = response.headers.get('x-seed');
    const took = Math.round(performance.now() - started);
    answer = { content, type };
    byId('status').textContent = `${response.status} ${response.statusText} in ${took} ms`
      + (seed ? `, seed ${seed}` : '');
    byId('text').textContent = text;
    byId('download').disabled = content === null;
    byId('download').textContent = note ? 'Download the beginning' : 'Download';
    byId('cut').textContent = isOther ? 'A single value is always JSON. Set a quantity for a workbook.' : note;
    byId('answer').hidden = false;
  } catch (error) {
    problem(stop.signal.aborted ? 'Stopped before the whole response was read.' : `The service did not respond: ${error.message}`);
  } finally {
    byId('send').disabled = false;
    if (document.activeElement === byId('stop')) byId('send').focus();
    byId('stop').disabled = true;
  }
}

function download() {
  const ending = /csv/.test(answer.type) ? 'csv' : /ndjson/.test(answer.type) ? 'ndjson'
    : /json/.test(answer.type) ? 'json' : answer.type === WORKBOOK ? 'xlsx'
      : /zip|sql/.exec(answer.type)?.[0] || 'txt';
  const href = URL.createObjectURL(new Blob([answer.content], { type: answer.type }));
  const link = make('a', { href, download: `${current().operationId}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(byId('curl').textContent);
    byId('copied').textContent = 'Copied.';
  } catch {
    getSelection().selectAllChildren(byId('curl'));
    byId('copied').textContent = 'Selected; copy it with the keyboard.';
  }
}

async function begin() {
  try {
    contract = await (await fetch(new URL('openapi.json', home))).json();
  } catch (error) {
    return problem(`The document of the service cannot be read: ${error.message}`);
  }
  readOperations();
  const wanted = location.hash.slice(1);
  if (operations.some((operation) => operation.operationId === wanted)) byId('operation').value = wanted;
  byId('send').disabled = false;
  byId('command').hidden = false;
  showOperation();
  // `input` reaches this listener before that of the form, which needs the fields of the operation.
  byId('operation').addEventListener('input', showOperation);
  byId('ready').addEventListener('input', showReady);
  byId('form').addEventListener('input', showCommand);
  byId('form').addEventListener('submit', (event) => { event.preventDefault(); send(); });
  byId('stop').addEventListener('click', () => stop.abort());
  byId('copy').addEventListener('click', copy);
  byId('download').addEventListener('click', download);
}

begin();
