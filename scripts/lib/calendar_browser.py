"""The pages of the calendar in a real browser: calendar_browser.py BASE_URL CHROMEDRIVER CHROMIUM PICTURES AXE

Without scripts: goes from the list to a month, the next one, an event, its venue, its category, the calendar file, a
search, a password, weeks and days. With scripts: another site shows events in frames. Every page is checked at three
widths and in both themes: it fits its width, and axe-core finds nothing. Links can be reached by keyboard with a visible
focus, and the printed page fits a sheet. A strict parser accepts the HTML, and events have the linked data that search
engines require. Pages of each kind are smaller than 60,000 bytes, and nothing moves while they load or are used.
"""

import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.error
import urllib.request

import html5lib
import icalendar

from webdriver import Browser, Driver, await_that

base, driver, program, pictures, axe_source = sys.argv[1:6]
axe = pathlib.Path(axe_source).read_text()
LOOKS = [("light", 1280, 900, "light"), ("dark", 1280, 900, "dark"),
         ("phone", 390, 844, "light"), ("phone-dark", 390, 844, "dark"),
         ("narrow", 320, 640, "light")]

# All rules of axe, with those that are off by default (target size) and without those for whole sites only.
AXE = """
const [done] = arguments;
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
  (result) => done(result.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)])),
  (error) => done([["axe", String(error), []]]));
"""

# The properties of an event and its parts that search engines require or recommend.
WANTED = {
    "Event": ["name", "startDate", "endDate", "location", "description", "eventStatus", "eventAttendanceMode",
              "organizer", "offers", "url"],
    "Place": ["name", "address", "url"], "PostalAddress": ["addressLocality", "addressCountry"],
    "Organization": ["name", "url"], "Offer": ["price", "priceCurrency", "url", "availability", "validFrom"],
    "GeoCoordinates": ["latitude", "longitude"],
}
parsed = set()

# Maximum size of a page with its style sheets, scripts and fonts, as encoded for the browser. Does not include headers,
# the icon (which Resource Timing leaves out) or images (which editors choose).
MOST_BYTES = 60_000
LOADED = """
const [page] = performance.getEntriesByType("navigation");
const parts = performance.getEntriesByType("resource").filter((entry) => entry.initiatorType !== "img");
return [page, ...parts].map((entry) => [entry.name, entry.encodedBodySize, entry.decodedBodySize]);
"""

# Runs before each document. As defined for cumulative layout shift, shifts within half a second after an input do not
# count.
OBSERVE_SHIFTS = """
window.layoutShifts = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries().filter((shift) => !shift.hadRecentInput)) {
    const moved = shift.sources.map(({node}) => node ? node.outerHTML || node.textContent : "a removed node");
    window.layoutShifts.push([shift.value, moved]);
  }
}).observe({type: "layout-shift", buffered: true});
"""

# Returns the shifts so far. First waits for two frames, and for the observer to be notified.
SHIFTS = """
const [done] = arguments;
const soon = () => setTimeout(() => done(window.layoutShifts), 200);
requestAnimationFrame(() => requestAnimationFrame(soon));
"""


def well_formed(url):
    """Parses the page of a URL strictly, once."""
    if url in parsed:
        return
    parsed.add(url)
    try:
        html = urllib.request.urlopen(urllib.request.Request(url, headers={"accept": "text/html"})).read()
    except urllib.error.HTTPError as error:
        html = error.read()
    html5lib.HTMLParser(strict=True).parse(html)


def complete(data):
    missing = [name for name in WANTED[data["@type"]] if not data.get(name)]
    assert not missing, (data, missing)
    for value in data.values():
        if isinstance(value, dict):
            complete(value)


def look(browser, name):
    well_formed(browser.call("GET", "/url"))
    for look, width, height, scheme in LOOKS:
        browser.look_as(width, height, scheme)
        browser.picture(f"{name}-{look}")
        browser.scripts(True)
        wide = browser.run("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, (name, look, wide)
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark"), (name, look, ground)
        browser.run(axe)
        found = browser.run_async(AXE)
        assert not found, (name, look, found)
        browser.scripts(False)
    browser.look_as(1280, 900, "light")


def see(browser, text, selector="main"):
    until = time.monotonic() + 15
    # The element may be present before the rest of the page.
    while (browser.run("return document.readyState") != "complete"
           or text.lower() not in (found := browser.text(selector)).lower()):
        assert time.monotonic() < until, (text, browser.text(selector))
        time.sleep(0.1)


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        browser.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                    windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key], text="\r" if key == "Enter" else "")


def by_keyboard(browser):
    """Checks that the skip link comes first and works, and that every focus stop is visible."""
    browser.open(base + "/events/")
    browser.scripts(True)
    press(browser, "Tab")
    assert "Skip" in browser.run("return document.activeElement.textContent")
    top = browser.run("return document.activeElement.getBoundingClientRect().top")
    assert top >= 0, "the skip link is not seen while it has the focus"
    press(browser, "Enter")
    assert browser.run("return document.activeElement.id") == "content"
    stops = set()
    for _ in range(12):
        press(browser, "Tab")
        stop = browser.run("""
            const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
            return [e.outerHTML, style.outlineStyle, parseFloat(style.outlineWidth), box.top >= 0 && box.bottom <= innerHeight]""")
        assert stop[1] != "none" and stop[2] >= 2 and stop[3], stop
        stops.add(stop[0])
    assert len(stops) == 12, stops
    browser.scripts(False)


def calendar_of(url):
    with urllib.request.urlopen(url) as answer:
        assert answer.headers["content-type"].startswith("text/calendar"), answer.headers
        return icalendar.Calendar.from_ical(answer.read())


def href(browser, selector):
    return browser.patiently(lambda: browser.call("GET", f"{browser.element(selector)}/attribute/href"))


def month_page(browser):
    browser.open(base + "/events/month/")
    look(browser, "month")
    this = browser.text("h1")
    browser.click("a[rel=next]")
    assert browser.text("h1") != this
    look(browser, "next-month")
    # The samples start today, so at the end of a month only the next one is sure to have events.
    browser.look_as(390, 844, "light")
    browser.scripts(True)
    display = "return getComputedStyle(document.querySelector('{}')).display"
    assert browser.run(display.format(".month td:not(.outside, .free)")) == "block", "a list of days on a phone"
    assert browser.run(display.format(".month .free, .month .outside")) == "none"
    browser.look_as(1280, 900, "light")
    assert browser.run(display.format(".month td:not(.outside)")) == "table-cell"
    browser.scripts(False)
    browser.click("a[rel=prev]")
    see(browser, this, "h1")


def main_path(browser):
    browser.open(base + "/")
    see(browser, "Events", "h1")
    look(browser, "list")
    feed = calendar_of(href(browser, ".subscribe .button:not(.primary)"))
    assert len(feed.walk("VEVENT")) > 20
    assert href(browser, ".subscribe .primary").startswith("webcal://")
    browser.click("nav[aria-label=Pages] a[rel=next]")
    see(browser, "Page 2 of")
    look(browser, "list-2")
    month_page(browser)
    # Two or three, because an event in Osaka is a day later once that day has begun there.
    if " more" not in browser.text():
        # The samples begin today, and the month is nearly over.
        browser.click("a[rel=next]")
        see(browser, " more")
    day = href(browser, ".more a")
    browser.open(day if day.startswith("http") else base + day)
    see(browser, "Committee for parks")
    look(browser, "day")
    browser.click("article a[href*='summer-festival']")
    see(browser, "Harbour Festival", "h1")
    look(browser, "event")
    data = json.loads(browser.run(
        "return document.querySelector('script[type=\"application/ld+json\"]').textContent"))
    assert data["@context"] == "https://schema.org" and data["location"]["name"] == "Riverside Meadow", data
    complete(data)
    [entry] = calendar_of(href(browser, ".keep a")).walk("VEVENT")
    assert entry["SUMMARY"].startswith("Harbour Festival"), entry
    browser.click(".details a[href*='/venue/']")
    see(browser, "Riverside Meadow", "h1")
    look(browser, "venue")
    browser.open(base + "/organizer/port-marrow-culture-office/")
    look(browser, "organizer")
    browser.open(base + "/events/category/concert/")
    see(browser, "Concert", "h1")
    look(browser, "category")
    assert calendar_of(href(browser, ".subscribe .button:not(.primary)")).walk("VEVENT")
    browser.open(base + "/tag/free-entry/")
    look(browser, "tag")


def days_and_weeks(browser):
    browser.open(base + "/events/week/")
    this = browser.text("h1")
    look(browser, "week")
    browser.click("a[rel=next]")
    assert browser.text("h1") != this
    look(browser, "next-week")
    browser.click(".month-nav .now")
    see(browser, this, "h1")
    browser.open(base + "/events/day/2020-01-01/")
    see(browser, "Nothing is planned for this day")
    look(browser, "empty-day")
    browser.click("a[rel=next]")
    assert "Nothing is planned" not in browser.text()
    browser.type("input[name=search]", "nothing of the kind")
    browser.click(".finder button")
    see(browser, "No matching events")


HOST = """<!doctype html><html lang="en"><title>Town</title>
<meta name="viewport" content="width=device-width"><body style="margin:0"><h1>Town</h1>
<script src="{base}/embed.js" data-view="{view}" data-theme="{theme}" async></script></body></html>"""


class Town(http.server.BaseHTTPRequestHandler):
    """Another site, which shows the calendar in a frame."""

    def do_GET(self):
        view, _, theme = self.path.strip("/").partition("/")
        body = HOST.format(base=base, view=view, theme=theme).encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def on_other_sites(browser):
    for name in ["embed/list", "embed/month"]:
        browser.open(f"{base}/{name}")
        look(browser, name.replace("/", "-"))
    town = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Town)
    threading.Thread(target=town.serve_forever, daemon=True).start()
    browser.scripts(True)
    for view in ["list", "month"]:
        for theme in ["light", "dark"]:
            for width in [1280, 360]:
                browser.look_as(width, 900, theme)
                browser.open(f"http://127.0.0.1:{town.server_port}/{view}/{theme}")
                height = "const frame = document.querySelector('iframe'); return frame ? frame.offsetHeight : 0"
                # The frame begins with 320 pixels and takes the height of its content.
                await_that(lambda: browser.run(height) not in (0, 320), f"the height of {view} at {width}")
                browser.picture(f"town-{view}-{theme}-{width}")
                wide = browser.run("return document.documentElement.scrollWidth - window.innerWidth")
                assert wide <= 0, (view, width, wide)
    town.shutdown()
    browser.scripts(False)
    browser.look_as(1280, 900, "light")


def small(browser, page):
    loaded = browser.run(LOADED)
    kinds = [name.rsplit(".", 1)[-1] for name, _, _ in loaded]
    assert "css" in kinds, (page, loaded)
    assert all(encoded > 0 for _, encoded, _ in loaded), (page, loaded)
    _, encoded, decoded = loaded[0]
    assert encoded < decoded, f"{page} is not compressed: {loaded[0]}"
    total = sum(encoded for _, encoded, _ in loaded)
    assert total < MOST_BYTES, (page, total, loaded)


def still(browser, page):
    """Checks that nothing moves while the page loads or is used."""
    shifts = browser.run_async(SHIFTS)
    assert shifts == [], (page, "loading", shifts)
    browser.run("scrollTo(0, document.body.scrollHeight)")
    shifts = browser.run_async(SHIFTS)
    assert shifts == [], (page, "scrolling", shifts)
    browser.run("scrollTo(0, 0)")
    uses = {"summary": browser.click, "input[name=search]": lambda field: browser.type(field, "boat")}
    for selector, use in uses.items():
        if browser.run(f"return document.querySelector('{selector}') !== null"):
            use(selector)
    press(browser, "Tab")
    shifts = browser.run_async(SHIFTS)
    assert shifts == [], (page, "using", shifts)


def sizes_and_shifts(browser):
    """Checks that pages of each kind are small and that nothing moves, on a phone and on a wide screen."""
    browser.scripts(True)
    installed = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=OBSERVE_SHIFTS)
    # Load everything for each page, as on a first visit.
    browser.cdp("Network.enable")
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)
    for width, height in [(360, 780), (1280, 900)]:
        browser.look_as(width, height, "light")
        for page in ["events/", "events/month/", "events/day/", "events/week/", "event/summer-festival/",
                     "venue/riverside-meadow/", "embed/list", "embed/month"]:
            browser.open(f"{base}/{page}")
            small(browser, f"{page} at {width}")
            still(browser, f"{page} at {width}")
    # Make sure that shifts are detected.
    browser.open(f"{base}/events/")
    browser.run_async(SHIFTS)
    browser.run("""
        const late = document.createElement("p");
        late.style.height = "200px";
        document.querySelector("main").prepend(late)""")
    assert browser.run_async(SHIFTS), "a late element was not detected as a shift"
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
    browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=installed["identifier"])
    browser.scripts(False)
    browser.look_as(1280, 900, "light")


def search_and_password(browser):
    browser.open(base + "/events/")
    browser.type("input[name=search]", "half marathon")
    browser.click(".finder button")
    see(browser, "1 event found")
    see(browser, "Half Marathon", "article")
    look(browser, "search")
    browser.type("input[name=search]", "nothing of the kind")
    browser.click(".finder button")
    see(browser, "No matching events")
    look(browser, "no-result")
    browser.open(base + "/event/members-evening/")
    look(browser, "locked")
    browser.type("#password", "wrong")
    browser.click("main form button")
    see(browser, "Wrong password")
    look(browser, "locked-wrong")
    browser.type("#password", "lantern")
    browser.click("main form button")
    see(browser, "For members alone.")
    browser.open(base + "/nowhere")
    see(browser, "Page not found", "h1")
    look(browser, "not-found")


def on_paper(browser):
    browser.look_as(700, 900, "light")
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    for name in ["events/", "events/month/", "events/week/", "event/summer-festival/"]:
        browser.open(f"{base}/{name}")
        browser.picture(f"print-{name.strip('/').replace('/', '-')}")
        wide = browser.run("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, (name, wide)
    browser.cdp("Emulation.setEmulatedMedia", media="")


running = Driver(driver)
try:
    browser = Browser(running, program, pictures)
    try:
        browser.scripts(False)
        browser.look_as(1280, 900, "light")
        main_path(browser)
        search_and_password(browser)
        days_and_weeks(browser)
        on_other_sites(browser)
        sizes_and_shifts(browser)
        by_keyboard(browser)
        on_paper(browser)
        log = [entry for entry in browser.log() if not re.search("status of 40[34]", entry["message"])]
        assert not log, log
    finally:
        browser.close()
finally:
    running.stop()
