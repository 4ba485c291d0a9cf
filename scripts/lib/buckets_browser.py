"""The search page in a real browser: buckets_browser.py BASE_URL KEY CHROMEDRIVER CHROMIUM PICTURES

Speaks the WebDriver protocol with the standard library alone, on the samples. At two widths and in both
themes: what is indexed and the examples without a key, the request for a key, a search by a click, order,
filters, pages, the link that repeats a search, both downloads. The page must fit its width, break no rule of
its policy and ask for nothing beyond its own files and the interface. A picture of each state is kept.
"""

import base64
import csv
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

base, key, driver, browser, pictures = sys.argv[1:6]
pictures = pathlib.Path(pictures)
pictures.mkdir(parents=True, exist_ok=True)
downloads = pathlib.Path(tempfile.mkdtemp())
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


def call(method, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode(),
                                     headers={"content-type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=120).read())["value"]


def await_that(check, what):
    for _ in range(400):
        try:
            value = check()
            if value:
                return value
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.05)
    raise AssertionError(f"never: {what}")


class Page:
    def __init__(self):
        options = {"binary": browser, "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{answer['sessionId']}"
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def cdp(self, command, **params):
        return call("POST", f"{self.path}/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script):
        return call("POST", f"{self.path}/execute/sync", {"script": script, "args": []})

    def element(self, selector):
        found = call("POST", f"{self.path}/element", {"using": "css selector", "value": selector})
        return f"{self.path}/element/{next(iter(found.values()))}"

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        call("POST", f"{self.element(selector)}/click", {})

    def type(self, selector, text):
        call("POST", f"{self.element(selector)}/clear", {})
        call("POST", f"{self.element(selector)}/value", {"text": text})

    def text(self, selector):
        return call("GET", f"{self.element(selector)}/text")

    def open(self, width, height, scheme):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        call("POST", f"{self.path}/url", {"url": f"{base}/"})
        self.run("sessionStorage.clear()")
        call("POST", f"{self.path}/refresh", {})

    def files(self, expected):
        await_that(lambda: re.match(rf"{expected} files?,", self.text("#message")), f"{expected} files")
        return self.run("return [...document.querySelectorAll('#files small')].map((e) => e.textContent)")

    def picture(self, name):
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return window.innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 2400), "scale": 1}
        image = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        (pictures / f"{name}.png").write_bytes(base64.b64decode(image))
        assert self.run("return document.documentElement.scrollWidth <= window.innerWidth"), "too wide"


def look(page, name, width, height, scheme):
    page.open(width, height, scheme)
    assert "105 files in 6 buckets" in page.text(".title p")
    page.picture(f"{name}-start")
    page.click(".examples a")
    await_that(lambda: "needs a key" in page.text("#key-error"), "the request for a key")
    page.picture(f"{name}-no-key")
    page.type("#key", "0" * 32)
    page.click("#search button[type=submit]")
    await_that(lambda: "unknown" in page.text("#key-error"), "an unknown key")
    page.type("#key", key)
    page.click("#search button[type=submit]")
    page.files(2)
    await_that(lambda: "package premium" in page.text("#key-hint"), "the account")
    # Everything, ordered, page by page.
    page.type("#keywords", "")
    page.run("document.getElementById('filters').open = true; document.getElementById('limit').value = '25'")
    page.click("#search button[type=submit]")
    first = page.files(105)
    assert page.text("#pages") == "5" and page.run("return document.querySelector('#back').disabled")
    page.click("#on")
    await_that(lambda: page.text("#place") == "26 to 50", "the second page")
    page.type("#page", "5\n")
    await_that(lambda: page.text("#place") == "101 to 105", "the last page")
    assert page.run("return document.querySelector('#on').disabled")
    page.run("history.go(-2)")
    await_that(lambda: page.text("#place") == "1 to 25", "the browser's way back")
    assert page.files(105) == first
    if width > 640:
        page.click(".sort[data-order=size]")
    else:
        page.run("document.getElementById('order').value = 'size desc'")
        page.click("#search button[type=submit]")
    await_that(lambda: "order=size&direction=desc" in page.run("return location.hash"), "largest first")
    page.files(105)
    sizes = page.run("return [...document.querySelectorAll('#files .number')].map((e) => parseInt(e.title))")
    assert sizes == sorted(sizes, reverse=True), sizes
    page.picture(f"{name}-everything")
    # A filter by a click, and away again.
    page.click("#files td[data-label=Bucket] button")
    await_that(lambda: page.run("return document.querySelectorAll('#active button').length") == 1, "a filter")
    assert not page.text("#message").startswith("105")
    page.picture(f"{name}-filtered")
    page.click("#active button")
    page.files(105)
    # The link repeats the search.
    link = page.run("return location.href")
    assert key not in link
    call("POST", f"{page.path}/url", {"url": f"{base}/docs/"})
    call("POST", f"{page.path}/url", {"url": link})
    page.files(105)
    # Downloads.
    for kind in ("csv", "ndjson"):
        page.click(f"#{kind}")
        file = downloads / f"files.{kind}"
        await_that(file.exists, f"files.{kind}")
        await_that(lambda: "All 105 files" in page.text("#download-text"), "the end of the download")
        content = file.read_text()
        rows = list(csv.DictReader(content.splitlines())) if kind == "csv" else \
            [json.loads(line) for line in content.splitlines()]
        assert len(rows) == 105 and int(rows[0]["size"]) == max(int(row["size"]) for row in rows), rows[0]
        file.unlink()
    page.click("#copy-link")
    await_that(lambda: page.text("#copy-link") == "Copied", "a copied link")
    # What is wrong is said.
    page.type("#keywords", "a(?=b)")
    page.click("#regexp")
    page.click("#search button[type=submit]")
    await_that(lambda: "look-around" in page.text("#message"), "a wrong expression")
    page.picture(f"{name}-wrong")
    asked = page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    foreign = [url for url in asked if not url.startswith((f"{base}/assets/", f"{base}/api/", "blob:"))]
    assert not foreign, foreign
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark"), ground
    log = call("POST", f"{page.path}/se/log", {"type": "browser"})
    # The browser notes every answer of 4xx.
    log = [entry for entry in log if "the server responded with a status of 4" not in entry["message"]]
    assert not log, log


process = subprocess.Popen([driver, f"--port={port}", "--log-level=OFF"], stdout=subprocess.DEVNULL)
try:
    await_that(lambda: call("GET", "/status"), "chromedriver")
    page = Page()
    try:
        for name, width, height, scheme in [("light", 1100, 900, "light"), ("dark", 1100, 900, "dark"),
                                            ("phone", 360, 780, "light"), ("phone-dark", 360, 780, "dark")]:
            look(page, name, width, height, scheme)
            print(f"{name}: {width} x {height}, {scheme}: fine")
    finally:
        call("DELETE", page.path)
finally:
    process.terminate()
    process.wait()
