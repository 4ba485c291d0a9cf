"""The check page in a real browser: passwords_browser.py BASE_URL CHROMEDRIVER CHROMIUM SCREENSHOTS

Light, dark and phone width each get a listed and an unlisted password. The page must show what left the browser,
request only the range and its own assets, satisfy its policy and fit its width. A picture of each state is kept.
"""

import re
import sys

from webdriver import LOOKS, await_that, browser

base = sys.argv[1]


def check(page, password):
    page.type("#password", password)
    page.click("#check")
    await_that(lambda: page.run("return !document.getElementById('result').hidden"), "a result")
    return page.text("#verdict")


def look(page, name, width, height, scheme):
    page.look_as(width, height, scheme)
    page.open(f"{base}/")
    page.picture(f"{name}-empty")
    verdict = check(page, "password")
    assert verdict == "Exposed: seen 3 times", verdict
    assert page.text("#sent") == "5BAA6" and page.text("#prefix") == "5BAA6"
    assert page.text("#suffix") == "1E4C9B93F3F0682250B6CF8331B7EE68FD8"
    lines, real = map(int, re.match(r"(\d+) lines, (\d+) of them real", page.text("#answer")).groups())
    assert 800 <= lines <= 1000 and real >= 1, (lines, real)
    page.picture(f"{name}-exposed")
    assert check(page, "not in the list: 8d1f2c") == "Not on the list"
    page.picture(f"{name}-unlisted")
    asked = page.requests()
    def are(path):
        return [url for url in asked if re.fullmatch(re.escape(base) + path, url)]
    ranges, assets = are(r"/range/[0-9A-F]{5}"), are(r"/assets/\w+\.[0-9a-f]{16}\.\w+")
    assert sorted(ranges + assets) == sorted(asked) and len(ranges) == 2, asked
    page.type("#password", "x")
    page.click("#show")
    assert page.run("return document.getElementById('password').type") == "text"
    page.assert_fits(scheme)
    log = page.log()
    assert not log, log


with browser(*sys.argv[2:5]) as page:
    for name, width, height, scheme in LOOKS:
        look(page, name, width, height, scheme)
