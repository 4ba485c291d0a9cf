"""The pages in a real browser: buckets_browser.py BASE_URL KEY CHROMEDRIVER CHROMIUM PICTURES

On the samples, at two widths and in both themes: totals and examples without a key, the request for a key, a search
by a click, order, filters, pages, the link that repeats a search, both downloads, alerts; the page of crawls. Pages
must fit their width, satisfy their policy, and request only their own files and the interface. A picture of each state
is kept.
"""

import csv
import json
import pathlib
import re
import sys
import tempfile

from webdriver import LOOKS, await_that, browser

base, key = sys.argv[1:3]
downloads = pathlib.Path(tempfile.mkdtemp())


def begin(page, width, height, scheme):
    page.look_as(width, height, scheme)
    page.open(f"{base}/")
    page.run("sessionStorage.clear()")
    page.open(f"{base}/")


def click(page, selector):
    page.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
    page.click(selector)


def files(page, expected):
    await_that(lambda: re.match(rf"{expected} files?,", page.text("#message")), f"{expected} files")
    return page.run("return [...document.querySelectorAll('#files small')].map((e) => e.textContent)")


def picture(page, name):
    page.picture(name)
    assert page.run("return document.documentElement.scrollWidth <= window.innerWidth"), "too wide"


def look(page, name, width, height, scheme):
    begin(page, width, height, scheme)
    assert "105 files in 6 buckets" in page.text(".title p")
    picture(page, f"{name}-start")
    click(page, ".examples a")
    await_that(lambda: "needs a key" in page.text("#key-error"), "the request for a key")
    picture(page, f"{name}-no-key")
    page.type("#key", "0" * 32)
    click(page, "#search button[type=submit]")
    await_that(lambda: "unknown" in page.text("#key-error"), "an unknown key")
    page.type("#key", key)
    click(page, "#search button[type=submit]")
    files(page, 2)
    await_that(lambda: "package premium" in page.text("#key-hint"), "the account")
    # Everything, ordered, page by page.
    page.type("#keywords", "")
    page.run("document.getElementById('filters').open = true; document.getElementById('limit').value = '25'")
    click(page, "#search button[type=submit]")
    first = files(page, 105)
    assert page.text("#pages") == "5" and page.run("return document.querySelector('#back').disabled")
    click(page, "#on")
    await_that(lambda: page.text("#place") == "26 to 50", "the second page")
    page.type("#page", "5\n")
    await_that(lambda: page.text("#place") == "101 to 105", "the last page")
    assert page.run("return document.querySelector('#on').disabled")
    page.run("history.go(-2)")
    await_that(lambda: page.text("#place") == "1 to 25", "the browser's way back")
    assert files(page, 105) == first
    if width > 640:
        click(page, ".sort[data-order=size]")
    else:
        page.run("document.getElementById('order').value = 'size desc'")
        click(page, "#search button[type=submit]")
    await_that(lambda: "order=size&direction=desc" in page.run("return location.hash"), "largest first")
    files(page, 105)
    sizes = page.run("return [...document.querySelectorAll('#files .number')].map((e) => parseInt(e.title))")
    assert sizes == sorted(sizes, reverse=True), sizes
    picture(page, f"{name}-everything")
    # Sets a filter by a click and removes it.
    click(page, "#files td[data-label=Bucket] button")
    await_that(lambda: page.run("return document.querySelectorAll('#active button').length") == 1, "a filter")
    assert not page.text("#message").startswith("105")
    picture(page, f"{name}-filtered")
    click(page, "#active button")
    files(page, 105)
    # The link repeats the search.
    link = page.run("return location.href")
    assert key not in link
    page.open(f"{base}/docs/")
    page.open(link)
    files(page, 105)
    # Downloads.
    for kind in ("csv", "ndjson"):
        click(page, f"#{kind}")
        file = downloads / f"files.{kind}"
        await_that(file.exists, f"files.{kind}")
        await_that(lambda: "All 105 files" in page.text("#download-text"), "the end of the download")
        content = file.read_text()
        rows = list(csv.DictReader(content.splitlines())) if kind == "csv" else \
            [json.loads(line) for line in content.splitlines()]
        assert len(rows) == 105 and int(rows[0]["size"]) == max(int(row["size"]) for row in rows), rows[0]
        file.unlink()
    click(page, "#copy-link")
    await_that(lambda: page.text("#copy-link") == "Copied", "a copied link")
    alerts(page, name)
    # Errors are shown.
    page.type("#keywords", "a(?=b)")
    click(page, "#regexp")
    click(page, "#search button[type=submit]")
    await_that(lambda: "look-around" in page.text("#message"), "a wrong expression")
    picture(page, f"{name}-wrong")
    foreign = [url for url in page.requests() if not url.startswith((f"{base}/assets/", f"{base}/api/", "blob:"))]
    assert not foreign, foreign
    page.assert_fits(scheme)
    # The browser logs every 4xx answer.
    crawls(page, name, scheme)
    log = [entry for entry in page.log() if "the server responded with a status of 4" not in entry["message"]]
    assert not log, log


def alerts(page, name):
    """Saves the search as an alert, whose name is not markup, asks what is new, and removes it."""
    items = "return [...document.querySelectorAll('#alert-list > li > a')].map((e) => e.textContent)"
    marked = f"<img src=x onerror=alert(1)> {name}"
    page.run("window.confirm = () => true; document.getElementById('alerts').open = true")
    await_that(lambda: "0 of 100 alerts" in page.text("#alert-message"), "the alerts")
    page.type("#keywords", "backup")
    page.type("#alert-name", marked)
    click(page, "#alert-save")
    await_that(lambda: page.run(items) == [marked], "the new alert")
    assert page.run("return document.querySelectorAll('#alerts img').length") == 0
    click(page, "#alert-list button")
    await_that(lambda: "no new files" in page.text("#alert-message"), "its files")
    picture(page, f"{name}-alerts")
    click(page, "#alert-list button[title^=Remove]")
    await_that(lambda: "0 of 100 alerts" in page.text("#alert-message"), "no alert")
    page.run("document.getElementById('alerts').open = false")
    page.type("#keywords", "")


def crawls(page, name, scheme):
    """Shows the crawl of the operator to the key of the tab. Without a key, asks for it."""
    page.open(f"{base}/crawls")
    await_that(lambda: page.text("#message").startswith("1 crawl,"), "the crawl")
    row = page.text("#crawls")
    for text in ("photos.s3.amazonaws.com", "crawl 1 of the operator", "due", "1 d", "none"):
        assert text in row, (text, row)
    picture(page, f"{name}-crawls")
    page.assert_fits(scheme)
    page.run("sessionStorage.clear()")
    page.open(f"{base}/crawls")
    click(page, "#show-crawls button")
    await_that(lambda: "need a key" in page.text("#key-error"), "the request for a key")
    assert page.run("return document.querySelector('#result').hidden")
    page.run(SLOW_FIRST)
    for entered in ("unknown", key):
        page.type("#key", entered)
        click(page, "#show-crawls button")
    await_that(lambda: page.run("return window.responded") == 2, "both responses")
    assert page.text("#message").startswith("1 crawl,"), "the response to the first key is dropped"
    assert page.text("#key-error") == ""


# The first request is only sent after the response to the second one.
SLOW_FIRST = """
const request = window.fetch;
let isFirst = true, release;
const second = new Promise((resolve) => { release = resolve; });
window.responded = 0;
window.fetch = async (...parameters) => {
  const waits = isFirst;
  isFirst = false;
  if (waits) await second;
  try {
    return await request(...parameters);
  } finally {
    setTimeout(() => { window.responded += 1; release(); }, 100);
  }
};
"""

STUB = """
const answers = {
  "api/account": '{"account":{"name":"t","package":"free","depth":2000,"scrolling":false,"validUntil":null}}',
  "api/v2/files": `{"query":{"start":0,"limit":50},"meta":{"results":${results}},"files":[${files}]}`,
};
window.fetch = async (path) => new Response(answers[path.split("?")[0]]);
"""
ODD = '{"id":"1","bucket":"a.s3.amazonaws.com","bucketId":1,"filename":"a\\u202ecod.exe",' \
      '"fullPath":"\\"size\\":1234567890123456789/a\\u202ecod.exe","url":"http://a.s3.amazonaws.com/a",' \
      '"size":9007199254740993,"type":"aws","lastModified":-86400}'


def stub(page, files, results):
    page.run(f"const [files, results] = {json.dumps([files, results])};{STUB}")


def odd(page):
    """Exact sizes, direction marks, the reach of a plan, and what to try without a result."""
    begin(page, 1280, 800, "light")
    stub(page, ODD, 5000)
    page.type("#key", key)
    page.run("document.getElementById('key').dispatchEvent(new Event('change'))")
    page.type("#keywords", "a")
    click(page, "#search button[type=submit]")
    await_that(lambda: page.text("#message").startswith("5,000 files"), "the stub")
    assert page.text("#pages") == "40", page.text("#pages")
    assert page.text("#files a") == "a\u27e8U+202E\u27e9cod.exe", page.text("#files a")
    assert page.run("return document.querySelector('#files .number').title") == "9007199254740993 bytes"
    assert page.text("#files .date") == "1969-12-31 00:00", page.text("#files .date")
    stub(page, "", 0)
    page.run("document.getElementById('filters').open = true")
    page.type("#extensions", "pdf")
    click(page, "#search button[type=submit]")
    await_that(lambda: "Nothing was found." in page.text("#notices"), "what to try")
    assert "Remove a filter." in page.text("#notices"), page.text("#notices")


def advice(page):
    """After a search without a result, the advice agrees with the notice about the expression."""
    begin(page, 1280, 800, "light")
    page.run(f"sessionStorage.setItem('key', {json.dumps(key)})")
    whole_name = "begin and end it with .*"
    for expression, correction, open_ends in [
        ("no-such-text", "added on both ends", True),
        (".*no-such-text.*", "", True),
        ("^no-such-text$", "are implied", False),
        (".*no-such-text", "", False),
    ]:
        page.open(f"{base}/docs/")
        page.open(f"{base}/#regexp=1&keywords={expression}")
        await_that(lambda: page.text("#message").startswith("0 files"), "no result")
        notices = page.text("#notices")
        assert correction in notices, notices
        assert (whole_name in notices) != open_ends, (expression, notices)


with browser(*sys.argv[3:6]) as page:
    page.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
    for name, width, height, scheme in LOOKS:
        look(page, name, width, height, scheme)
        print(f"{name}: {width} x {height}, {scheme}: fine")
    odd(page)
    advice(page)
