"""The playground and the builder of records in a real browser: generator_browser.py BASE_URL CHROMEDRIVER CHROMIUM SCREENSHOTS

Chooses every operation in each layout and sends some of them. The page must show the answer, fit its width and write no
error into the log of the browser.
"""

import sys

from webdriver import LOOKS, await_that, browser

base = sys.argv[1]

# What a person does: the value of the list changes, and the events of the change follow.
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
    log = page.log()
    assert not log, log


NAMES = "return [...document.querySelectorAll('#tables [data-control=name]')].map((one) => one.value)"
FIRST = "#tables [data-control=name]"
ALT, DOWN = "\ue00a", "\ue015"


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


with browser(*sys.argv[2:5]) as page:
    for name, width, height, scheme in LOOKS:
        look(page, name, width, height, scheme)
        build(page, name, width, height, scheme)
