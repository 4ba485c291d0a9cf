"""A browser controlled over WebDriver, with the standard library only."""

import base64
import contextlib
import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]


# Name, width, height and theme of each layout that a page must support.
LOOKS = [("light", 1100, 900, "light"), ("dark", 1100, 900, "dark"),
         ("phone", 360, 780, "light"), ("phone-dark", 360, 780, "dark")]


def await_that(check, what, seconds=20):
    """Waits until `check` returns something and returns it."""
    until = time.monotonic() + seconds
    while not (value := check()):
        assert time.monotonic() < until, f"never: {what}"
        time.sleep(0.05)
    return value


class WebDriverError(Exception):
    """An error returned by chromedriver."""

    def __init__(self, error):
        self.code = error.code
        super().__init__(f"{error.code}: {error.read().decode(errors='replace')[:600]}")


class Driver:
    """A running chromedriver."""

    def __init__(self, program):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([program, f"--port={self.port}", "--log-level=OFF"],
                                        stdout=subprocess.DEVNULL)
        await_that(self.answers, "an answer of chromedriver", 30)

    def answers(self):
        try:
            return self.call("GET", "/status")
        except (urllib.error.URLError, ConnectionError):
            return None

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"})
        try:
            return json.loads(urllib.request.urlopen(request, timeout=120).read())["value"]
        except urllib.error.HTTPError as error:
            raise WebDriverError(error) from None

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Browser:
    """A browser that stores its pictures in a folder."""

    def __init__(self, driver, program, pictures):
        self.driver = driver
        self.pictures = pathlib.Path(pictures)
        self.pictures.mkdir(parents=True, exist_ok=True)
        capabilities = {"goog:chromeOptions": {"binary": program, "args": FLAGS},
                        "goog:loggingPrefs": {"browser": "ALL"}}
        answer = driver.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{answer['sessionId']}"

    def call(self, method, path, body=None):
        return self.driver.call(method, self.path + path, body)

    def close(self):
        self.call("DELETE", "")

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def run_async(self, script):
        """Runs a script that passes its result to its last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": []})

    def look_as(self, width, height, scheme):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, allowed):
        self.cdp("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def patiently(self, ask, codes=(404,)):
        """Repeats while the page is loading, because its elements are missing or stale.

        A document that goes away while it is looked at is a 500, after which what only reads may be asked again.
        """
        until = time.monotonic() + 15
        while True:
            try:
                return ask()
            except WebDriverError as error:
                if error.code not in codes or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def element(self, selector):
        found = self.patiently(lambda: self.call("POST", "/element", {"using": "css selector", "value": selector}), (500,))
        return f"/element/{next(iter(found.values()))}"

    def click(self, selector):
        self.patiently(lambda: self.call("POST", f"{self.element(selector)}/click", {}))

    def type(self, selector, text):
        self.patiently(lambda: self.call("POST", f"{self.element(selector)}/clear", {}))
        self.call("POST", f"{self.element(selector)}/value", {"text": text})

    def text(self, selector="main"):
        return self.patiently(lambda: self.call("GET", f"{self.element(selector)}/text"), (404, 500))

    def log(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """Returns the URLs that the page requested."""
        return self.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")

    def assert_fits(self, scheme):
        """Checks that the page is not wider than the window and has the background of the theme."""
        wide = self.run("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{wide} pixels too wide"
        ground = self.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark"), ground

    def picture(self, name):
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        (self.pictures / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def browser(driver, program, pictures):
    """A browser that ends with the block."""
    running = Driver(driver)
    try:
        page = Browser(running, program, pictures)
        try:
            yield page
        finally:
            page.close()
    finally:
        running.stop()
