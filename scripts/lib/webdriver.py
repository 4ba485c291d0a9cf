"""A browser by the WebDriver protocol, with the standard library alone."""

import base64
import json
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]


class Driver:
    """A running chromedriver."""

    def __init__(self, program):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([program, f"--port={self.port}", "--log-level=OFF"],
                                        stdout=subprocess.DEVNULL)
        for _ in range(300):
            try:
                self.call("GET", "/status")
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise SystemExit("error: chromedriver does not answer")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=120).read())["value"]

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Browser:
    """A browser whose pictures lie in a folder."""

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

    def look_as(self, width, height, scheme):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, allowed):
        self.cdp("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def patiently(self, ask):
        """Asks again while the page is under way: its elements are not there yet, or no longer."""
        until = time.monotonic() + 15
        while True:
            try:
                return ask()
            except urllib.error.HTTPError as error:
                if error.code != 404 or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def element(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{next(iter(found.values()))}"

    def click(self, selector):
        self.patiently(lambda: self.call("POST", f"{self.element(selector)}/click", {}))

    def type(self, selector, text):
        self.patiently(lambda: self.call("POST", f"{self.element(selector)}/clear", {}))
        self.call("POST", f"{self.element(selector)}/value", {"text": text})

    def text(self, selector="main"):
        return self.patiently(lambda: self.call("GET", f"{self.element(selector)}/text"))

    def log(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def picture(self, name):
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        (self.pictures / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
