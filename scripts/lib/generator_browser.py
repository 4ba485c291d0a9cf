"""The playground in a real browser: generator_browser.py BASE_URL CHROMEDRIVER CHROMIUM SCREENSHOTS

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


with browser(*sys.argv[2:5]) as page:
    for name, width, height, scheme in LOOKS:
        look(page, name, width, height, scheme)
