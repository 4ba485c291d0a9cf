"""The check page in a real browser: passwords_browser.py BASE_URL CHROMEDRIVER CHROMIUM SCREENSHOTS

Speaks the WebDriver protocol with the standard library alone. Light, dark and phone width each get
a listed and an unlisted password; the page must show what left the browser, ask for nothing but the
range beside its own assets, break no rule of its policy and fit its width. A picture of each state is kept.
"""

import base64
import json
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

base, driver, browser, pictures = sys.argv[1:5]
pictures = pathlib.Path(pictures)
pictures.mkdir(parents=True, exist_ok=True)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


def call(method, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode(),
                                     headers={"content-type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=120).read())["value"]


def await_driver():
    for _ in range(200):
        try:
            return call("GET", "/status")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("error: chromedriver does not answer")


class Page:
    def __init__(self):
        options = {"binary": browser, "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{answer['sessionId']}"

    def close(self):
        call("DELETE", self.path)

    def cdp(self, command, **params):
        return call("POST", f"{self.path}/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script):
        return call("POST", f"{self.path}/execute/sync", {"script": script, "args": []})

    def element(self, selector):
        found = call("POST", f"{self.path}/element", {"using": "css selector", "value": selector})
        return f"{self.path}/element/{next(iter(found.values()))}"

    def click(self, selector):
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

    def check(self, password):
        self.type("#password", password)
        self.click("#check")
        for _ in range(200):
            if self.run("return !document.getElementById('result').hidden"):
                return self.text("#verdict")
            time.sleep(0.05)
        raise AssertionError("the page shows no result")

    def picture(self, name):
        image = call("GET", f"{self.path}/screenshot")
        (pictures / f"{name}.png").write_bytes(base64.b64decode(image))


def look(page, name, width, height, scheme):
    page.open(width, height, scheme)
    page.picture(f"{name}-empty")
    verdict = page.check("password")
    assert verdict == "Exposed: seen 3 times", verdict
    assert page.text("#sent") == "5BAA6" and page.text("#prefix") == "5BAA6"
    assert page.text("#suffix") == "1E4C9B93F3F0682250B6CF8331B7EE68FD8"
    lines, real = map(int, re.match(r"(\d+) lines, (\d+) of them real", page.text("#answer")).groups())
    assert 800 <= lines <= 1000 and real >= 1, (lines, real)
    page.picture(f"{name}-exposed")
    assert page.check("not in the list: 8d1f2c") == "Not on the list"
    page.picture(f"{name}-unlisted")
    asked = page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    def are(path):
        return [url for url in asked if re.fullmatch(re.escape(base) + path, url)]
    ranges, assets = are(r"/range/[0-9A-F]{5}"), are(r"/assets/\w+\.[0-9a-f]{16}\.\w+")
    assert sorted(ranges + assets) == sorted(asked) and len(ranges) == 2, asked
    page.type("#password", "x")
    page.click("#show")
    assert page.run("return document.getElementById('password').type") == "text"
    assert page.run("return document.documentElement.scrollWidth <= window.innerWidth"), "too wide"
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", ground)[:3]))
    assert (brightness < 200) == (scheme == "dark"), ground
    log = call("POST", f"{page.path}/se/log", {"type": "browser"})
    assert not log, log


process = subprocess.Popen([driver, f"--port={port}", "--log-level=OFF"], stdout=subprocess.DEVNULL)
try:
    await_driver()
    page = Page()
    try:
        for name, width, height, scheme in [("light", 1100, 900, "light"), ("dark", 1100, 900, "dark"),
                                            ("phone", 360, 780, "light"), ("phone-dark", 360, 780, "dark")]:
            look(page, name, width, height, scheme)
    finally:
        page.close()
finally:
    process.terminate()
    process.wait()
