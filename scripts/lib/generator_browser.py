"""The playground and the builder of records in a real browser: generator_browser.py BASE_URL CHROMEDRIVER CHROMIUM SCREENSHOTS

Chooses every operation in each layout and sends some of them. The page must show the answer, fit its width and write no
error into the log of the browser. Records are built with the keyboard, from broken links and from every ready schema,
and downloaded in every format.
"""

import base64
import json
import random
import string
import sys

from webdriver import LOOKS, await_that, browser

base = sys.argv[1]

# Selects a value like a person: sets the value of the list, then sends the events of a change.
CHOOSE = """
const list = document.getElementById('operation');
list.value = %r;
for (const name of ['input', 'change']) list.dispatchEvent(new Event(name, { bubbles: true }));
return document.getElementById('curl').textContent;
"""


def look(page, name, width, height, scheme):
    page.look_as(width, height, scheme)
    page.open(f"{base}/")
    await_that(lambda: page.run("return !document.getElementById('send').disabled"), "the form")
    operations = page.run("return [...document.querySelectorAll('#operation option')].map((one) => one.value)")
    assert len(operations) > 25, operations
    for operation in operations:
        command = page.run(CHOOSE % operation)
        assert base in command, command
        page.assert_fits(scheme)
    page.run(CHOOSE % "generatePersons")
    page.click("#send")
    await_that(lambda: page.run("return !document.getElementById('answer').hidden"), "an answer")
    assert "nameLatin" in page.text("#text")
    page.assert_fits(scheme)
    page.picture(f"{name}-person")
    workbook(page)
    page.assert_fits(scheme)
    page.picture(f"{name}-workbook")
    log = page.log()
    assert not log, log


# Records the files that the page saves, and their first bytes.
KEEP = """
const link = URL.createObjectURL;
window.begins = '';
URL.createObjectURL = (file) => {
  file.slice(0, 2).text().then((text) => { window.begins = text; });
  return link(file);
};
"""


def workbook(page):
    """Requests persons as a workbook and saves it."""
    quantity = "document.getElementById('parameter-quantity')"
    for value, said in [("", "Set a quantity"), ("20", "")]:
        page.run(f"{quantity}.value = '{value}'; {quantity}.dispatchEvent(new Event('input', {{ bubbles: true }}))")
        page.run("document.getElementById('accept').selectedIndex = 3; document.getElementById('cut').textContent = '-'")
        page.click("#send")
        await_that(lambda: page.text("#cut") == said or said and said in page.text("#cut"), "an answer as a workbook")
    assert page.text("#text").startswith("A file of "), page.text("#text")
    page.run(KEEP)
    page.click("#download")
    await_that(lambda: page.run("return window.begins") == "PK", "a workbook that is saved")


# Enters a key and returns the command and the program, then removes the key before the page uses it.
KEY = """
const key = document.getElementById('key');
const enter = (value) => { key.value = value; key.dispatchEvent(new Event('input')); };
enter('secret');
const texts = ['command', 'client'].map((id) => document.getElementById(id).textContent);
enter('');
return texts;
"""
NAMES = "return [...document.querySelectorAll('#tables [data-control=name]')].map((one) => one.value)"
FIRST = "#tables [data-control=name]"
ALT, DOWN, UP = "\ue00a", "\ue015", "\ue013"


def press(page, *keys):
    """Presses keys together in the control that has the focus."""
    presses = [{"type": "keyDown", "value": key} for key in keys] + [{"type": "keyUp", "value": key} for key in keys[::-1]]
    page.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": presses}]})


def choose(page, control, value):
    page.run(f"const list = document.getElementById('{control}'); list.value = '{value}';"
             "for (const name of ['input', 'change']) list.dispatchEvent(new Event(name, { bubbles: true }))")


def build(page, name, width, height, scheme):
    page.look_as(width, height, scheme)
    page.open(f"{base}/records")
    first_column = "const cell = document.querySelector('#preview th'); return cell && cell.textContent"
    await_that(lambda: page.run(first_column) == "id", "the preview")
    assert page.run("return document.querySelectorAll('#preview tbody tr').length") == 10
    # Fields are moved and renamed with the keyboard, and the focus follows.
    page.run(f"document.querySelector('{FIRST}').focus()")
    press(page, ALT, DOWN)
    assert page.run(NAMES) == ["name", "id", "email", "city"], page.run(NAMES)
    press(page, "X")
    assert page.run(NAMES)[1] == "Xid", page.run(NAMES)
    await_that(lambda: page.run(first_column) == "name", "the preview of the new order")
    assert "generator records schema.json" in page.text("#command")
    with_key = page.run(KEY)
    assert '"X-Api-Key: $KEY"' in with_key[0] and "'X-Api-Key': key" in with_key[1], with_key
    page.assert_fits(scheme)
    page.picture(f"{name}-builder")
    # The address has the schema.
    link = page.run("return location.href")
    page.open("about:blank")
    page.open(link)
    await_that(lambda: page.run(NAMES) == ["name", "Xid", "email", "city"], "the schema of the link")
    choose(page, "ready", "shop")
    tables = "return document.querySelectorAll('#preview table').length"
    await_that(lambda: page.run(tables) == 4, "the tables of the shop")
    page.assert_fits(scheme)
    choose(page, "format", "xlsx")
    page.click("#download")
    await_that(lambda: page.text("#said") == "Downloaded.", "a workbook")
    log = page.log()
    assert not log, log


def link(text):
    """Returns the address of a page whose schema is this text."""
    return f"{base}/records#{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


# Broken schemas, and what the page must say about each.
BROKEN = [
    ("%%%", None),
    ("{", "cannot be shown"),
    ("[]", "neither tables nor fields"),
    ('{"tables": [null]}', "/tables/0 is not an object"),
    ('{"tables": [{"fields": 5}]}', "/tables/0/fields is not an array"),
    ('{"fields": [{"name": "a", "type": "sequence"}, 7]}', "/tables/0/fields/1 is not an object"),
]


def repair(page):
    """Opens links with broken schemas. The page must say what is wrong, and still work."""
    for text, fault in BROKEN:
        page.open("about:blank")
        page.open(f"{base}/records#{text}" if fault is None else link(text))
        await_that(lambda: page.run("return !document.getElementById('problem').hidden"), f"the fault of {text}")
        assert (fault or "damaged") in page.text("#problem"), page.text("#problem")
        await_that(lambda: page.run("return document.querySelectorAll('#preview tbody tr').length") == 10, "rows")
        assert (fault or "damaged") in page.text("#problem"), "the fault disappeared before a change"
        page.click("#add-table")
        await_that(lambda: page.run("return document.getElementById('problem').hidden"), "a change hides the fault")
        await_that(lambda: page.run("return document.querySelectorAll('#preview table').length") == 2, "two tables")
    # Another link in the same page.
    page.run(f"location.hash = {json.dumps(link(json.dumps({'fields': [{'name': 'other', 'type': 'ip'}]})).split('#')[1])}")
    await_that(lambda: page.run(NAMES) == ["other"], "the schema of another link")
    # A type that the service does not know is shown, and its fault with the place.
    page.open("about:blank")
    page.open(link('{"fields": [{"name": "a", "type": "nope"}]}'))
    await_that(lambda: "/tables/0/fields/0/type" in page.text("#faults"), "the fault of the service")
    assert page.run("return document.querySelector('#tables [data-control=type]').value") == "nope"
    # The browser itself notes the response 400 of the preview.
    log = [line for line in page.log() if "400" not in line["message"]]
    assert not log, log


def download(page):
    """Opens every example schema and downloads it in every format."""
    page.open("about:blank")
    page.open(f"{base}/records")
    await_that(lambda: page.run("return document.querySelectorAll('#ready option').length") > 4, "the ready schemas")
    names = page.run("return [...document.querySelectorAll('#ready option')].map((one) => one.value).filter(Boolean)")
    formats = page.run("return [...document.querySelectorAll('#format option')].map((one) => one.value)")
    for name in names:
        choose(page, "ready", name)
        for kind in formats:
            choose(page, "format", kind)
            page.run("document.getElementById('said').textContent = ''")
            page.click("#download")
            await_that(lambda: page.text("#said") in ("Downloaded.", "The service refused the schema: see the preview."), kind)
            assert page.text("#said") == "Downloaded.", f"{name} {kind}: {page.text('#faults')}"
    assert not page.log()


# Starts a download, chooses another format before the response, and records the name of the file.
CHANGE_FORMAT = """
const click = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function () { window.file = this.download; click.call(this); };
const format = document.getElementById('format');
format.value = 'csv&bom=true';
document.getElementById('said').textContent = '';
document.getElementById('download').click();
format.value = 'json';
"""

# Answers requests for saved schemas. All other requests reach the service.
SAVED = """
const real = window.fetch;
window.names = ['a', 'b'];
window.fetch = async (target, options) => {
  const [, name] = /api\\/Schemas\\/?(.*)$/.exec(target) || [];
  if (name === undefined) return real(target, options);
  if (options.method === 'DELETE') window.names = window.names.filter((own) => own !== name);
  const list = window.names.map((own) => ({ name: own }));
  return options.method === 'GET' ? Response.json(list) : new Response(null, { status: 204 });
};
"""


def hurry(page):
    """Changes the input of a request before its response arrives. The response must be shown for the old input."""
    page.open("about:blank")
    page.open(f"{base}/records")
    await_that(lambda: page.run("return document.querySelectorAll('#preview tbody tr').length") == 10, "rows")
    page.run(CHANGE_FORMAT)
    await_that(lambda: page.text("#said") == "Downloaded.", "a download")
    assert page.run("return window.file") == "records.csv", page.run("return window.file")
    page.run(SAVED)
    chosen = "return document.getElementById('saved').value"
    page.run("document.getElementById('saved-name').value = 'b'")
    page.click("#save")
    await_that(lambda: page.run(chosen) == "b", "the schema that was saved")
    page.click("#remove-saved")
    await_that(lambda: page.run("return document.querySelectorAll('#saved option').length") == 1, "a shorter list")
    assert page.run(chosen) == "", "another click would remove another schema"
    page.click("#remove-saved")
    assert page.run("return window.names") == ["a"]
    # A damaged address does not stop the page of operations.
    page.open("about:blank")
    page.open(f"{base}/#%")
    await_that(lambda: page.run("return !document.getElementById('send').disabled"), "the form")
    log = page.log()
    assert not log, log


def archive(page):
    """Requests archives: a small one, one that is too large for the page, and one that is aborted."""
    page.open("about:blank")
    page.open(f"{base}/")
    await_that(lambda: page.run("return !document.getElementById('send').disabled"), "the form")
    page.run(CHOOSE % "generateRecords")
    # Deflate looks back 32 KiB, so it cannot shorten copies of a longer text.
    noise = "".join(random.choices(string.ascii_letters + string.digits, k=200_000))
    schema = {"fields": [{"name": "noise", "type": "constant", "value": noise}]}

    def fill(control, value):
        page.run(f"const control = document.getElementById('{control}'); control.value = {json.dumps(value)};"
                 "control.dispatchEvent(new Event('input', { bubbles: true }))")

    fill("body", json.dumps(schema))
    fill("parameter-zip", "true")
    assert "-o generateRecords.zip" in page.text("#curl"), page.text("#curl")[:200]
    for rows, said in [("2", "A file of "), ("100000", "more than 64 MiB")]:
        fill("parameter-rows", rows)
        page.click("#send")
        await_that(lambda: said in page.text("#text"), said, 180)
        assert page.run("return document.getElementById('download').disabled") == (rows != "2")
    page.click("#send")
    page.run("document.getElementById('stop').focus()")
    page.click("#stop")
    await_that(lambda: "Stopped" in page.text("#problem"), "the request is stopped")
    assert page.run("return document.activeElement.id") == "send"
    page.click("#send")
    page.run(CHOOSE % "generatePersons")
    await_that(lambda: page.run("return !document.getElementById('send').disabled"), "the request is stopped")
    assert page.run("return document.getElementById('answer').hidden"), "the answer to another operation"
    log = page.log()
    assert not log, log


TAB, SHIFT, ENTER, SPACE = "\ue004", "\ue008", "\ue007", " "


def reach(page, check):
    """Presses Tab until the control that has the focus passes the check."""
    for _ in range(120):
        press(page, TAB)
        if page.run(f"const at = document.activeElement; return {check}"):
            outline = page.run("const style = getComputedStyle(document.activeElement);"
                               "return style.outlineStyle !== 'none' || style.boxShadow !== 'none'")
            assert outline, f"{check}: the focus is not visible"
            return
    raise AssertionError(f"Tab never reaches {check}")


def operate(page):
    """Uses the page of operations with the keyboard alone."""
    page.open("about:blank")
    page.open(f"{base}/")
    await_that(lambda: page.run("return !document.getElementById('send').disabled"), "the form")
    operation = "return document.getElementById('operation').value"
    first = page.run(operation)
    reach(page, "at.id === 'operation'")
    press(page, DOWN)
    await_that(lambda: page.run(operation) != first, "another operation")
    page.run(CHOOSE % "generatePersons")
    controls = page.run("return [...document.querySelectorAll('#fields :is(input, select)')].map((one) => one.id)")
    for control in [*controls, "accept", "key"]:
        reach(page, f"at.id === '{control}'")
    page.run("document.getElementById('operation').focus()")
    reach(page, "at.id === 'parameter-quantity'")
    press(page, "2")
    press(page, ENTER)
    await_that(lambda: page.run("return !document.getElementById('answer').hidden"), "an answer")
    for control in ["curl", "copy", "text", "download"]:
        reach(page, f"at.id === '{control}' || at.firstElementChild?.id === '{control}'")
        if control == "copy":
            press(page, SPACE)
            await_that(lambda: page.text("#copied"), "the command is copied or selected")
    page.run(KEEP)
    press(page, SPACE)
    await_that(lambda: page.run("return window.begins").startswith("["), "an answer that is saved")
    assert not page.log()


def walk(page):
    """Builds a schema with the keyboard alone: each control is reached with Tab and used with keys."""
    page.open("about:blank")
    page.open(f"{base}/records")
    await_that(lambda: page.run("return document.querySelectorAll('#preview tbody tr').length") == 10, "rows")

    reach(page, "at.textContent === 'Add a field'")
    press(page, SPACE)
    assert page.run("return document.activeElement.dataset.control") == "name"
    press(page, "Z")
    press(page, TAB)
    # Typing selects a type.
    for letter in "uui":
        press(page, letter)
    await_that(lambda: page.run("return document.activeElement.value") == "uuid", "a type by its letters")
    # Members return with their type after keys have passed other types.
    press(page, TAB)
    for letter in '"version":7':
        press(page, letter)
    press(page, SHIFT, TAB)
    for _ in range(2):
        if page.run("return document.activeElement.dataset.control") != "type":
            press(page, SHIFT, TAB)
    press(page, UP)
    press(page, DOWN)
    await_that(lambda: '"version":7' in page.run("return document.getElementById('json').value.replaceAll(/\\s/g, '')"), "the member")
    reach(page, "at.dataset.control === 'up'")
    press(page, SPACE)
    assert page.run(NAMES)[3] == "Zfield", page.run(NAMES)
    reach(page, "at.id === 'add-table'")
    press(page, SPACE)
    await_that(lambda: page.run("return document.querySelectorAll('#preview table').length") == 2, "the second table")
    reach(page, "at.id === 'download'")
    press(page, SPACE)
    await_that(lambda: page.text("#said") == "Downloaded.", "a download by the keyboard")
    assert not page.log()


with browser(*sys.argv[2:5]) as page:
    for name, width, height, scheme in LOOKS:
        look(page, name, width, height, scheme)
        build(page, name, width, height, scheme)
        repair(page)
        operate(page)
        walk(page)
        download(page)
    hurry(page)
    archive(page)
