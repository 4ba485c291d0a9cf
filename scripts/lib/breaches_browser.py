"""The pages of the breach lookup service in a real browser:
breaches_browser.py BASE_URL MAIL_FOLDER DNS_PORT CHROMEDRIVER CHROMIUM PICTURES

Without scripts: signs in by a mailed link, verifies a domain by a TXT record of a name server on DNS_PORT, searches
and exports it, opts out. With scripts: approves a domain by a mailed link. Every page is checked at two widths and in
both themes; none may be too wide or break its policy.
"""

import email
import email.policy
import pathlib
import re
import socket
import sys
import threading
import time

from webdriver import LOOKS, await_that, browser

base, mails, dns_port = sys.argv[1:4]
OWNER, DOMAIN = "ada@corp.example", "corp.example"
records = {}


def serve_names():
    """A name server with the TXT records of `records`."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", int(dns_port)))
    while True:
        question, peer = server.recvfrom(4096)
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += question[at] + 1
        end = at + 5
        text = records.get(".".join(labels).lower()) if question[at + 2] == 16 else None
        answer = b""
        if text:
            data = bytes([len(text)]) + text.encode()
            answer = b"\xc0\x0c\0\x10\0\1\0\0\0\x3c" + len(data).to_bytes(2, "big") + data
        flags = b"\x85\x80" if text else b"\x85\x83"
        server.sendto(question[:2] + flags + b"\0\1\0" + (b"\1" if text else b"\0") + b"\0\0\0\0"
                      + question[12:end] + answer, peer)


seen = set()


def last_link():
    """Waits for the next mail, which is sent after the answer, and returns its link."""
    until = time.monotonic() + 15
    while not (new := set(pathlib.Path(mails).glob("*.eml")) - seen):
        assert time.monotonic() < until, "no mail came"
        time.sleep(0.1)
    seen.update(new)
    # An incomplete mail has no link yet.
    while True:
        mail = email.message_from_bytes(max(new).read_bytes(), policy=email.policy.default)
        if link := re.search(r"https?://[^/\s]+(/\S+)", mail.get_content()):
            return base + link[1]
        assert time.monotonic() < until, "the mail has no link"
        time.sleep(0.1)


def look(browser, name):
    for look, width, height, scheme in LOOKS:
        browser.look_as(width, height, scheme)
        browser.picture(f"{name}-{look}")
        browser.scripts(True)
        browser.assert_fits(scheme)
        unnamed = browser.run(
            "return [...document.querySelectorAll('input:not([type=hidden]), select')]"
            ".filter((field) => !field.labels.length).length")
        assert unnamed == 0, (name, unnamed)
        browser.scripts(False)
    browser.look_as(1100, 900, "light")


def see(browser, text):
    await_that(lambda: text.lower() in browser.text().lower(), text)


def ask(browser, path, address):
    browser.open(base + path)
    browser.type("input[type=email]", address)
    browser.click("main form button[type=submit]")


def main_path(browser):
    browser.open(base + "/")
    look(browser, "home")
    ask(browser, "/", OWNER)
    see(browser, "Exposed")
    look(browser, "exposed")
    for path in ["/breaches", "/breaches/Acmegram", "/notify-me", "/opt-out", "/sign-in", "/nowhere"]:
        browser.open(base + path)
        if path != "/nowhere":
            look(browser, path.strip("/").replace("/", "-").lower())
    ask(browser, "/sign-in", OWNER)
    see(browser, "Check your email")
    browser.open(last_link())
    look(browser, "confirm")
    browser.click("main form button[type=submit]")
    see(browser, "Your exposure")
    look(browser, "overview")
    for path in ["stealer-logs", "notifications", "webhooks", "key", "subscription"]:
        browser.open(f"{base}/account/{path}")
        look(browser, path)
    browser.open(base + "/account/domains")
    browser.type("#domain", DOMAIN)
    browser.click("main form.card button[type=submit]")
    see(browser, f"Verify {DOMAIN}")
    browser.click("button[value=dns]")
    see(browser, "No breach-verify TXT records were found")
    look(browser, "verify")
    records[DOMAIN] = browser.text("pre")
    browser.click("button[value=dns]")
    see(browser, "Breached addresses")
    look(browser, "domain")
    browser.type("#alias", "gra")
    browser.click("main form.card button[type=submit]")
    see(browser, "grace")
    assert "ada" not in browser.text("tbody"), browser.text("tbody")
    browser.open(f"{base}/account/domains/{DOMAIN}/export/json")
    browser.open(f"{base}/account/domains/{DOMAIN}/report?since=2013-01-01")
    see(browser, "In several breaches")
    look(browser, "report")
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    browser.picture("report-print")
    browser.cdp("Emulation.setEmulatedMedia", media="")
    browser.click("button[name=monthly]")
    see(browser, "is on")
    browser.open(base + "/account/domains")
    look(browser, "domains")
    browser.open(f"{base}/account/domains/{DOMAIN}/remove")
    look(browser, "remove")
    ask(browser, "/opt-out", OWNER)
    browser.open(last_link())
    look(browser, "choose")
    browser.click("main form button[type=submit]")
    see(browser, "Public searches no longer find")


def approval(browser):
    browser.open(base + "/account/domains")
    browser.type("#domain", "other.example")
    browser.click("main form.card button[type=submit]")
    browser.click("button[value=email]")
    see(browser, "We sent the email")
    link = last_link()
    browser.open(link)
    look(browser, "approve")
    browser.scripts(True)
    # The script of the page submits its form.
    browser.open(link)
    await_that(lambda: "Verified" in browser.text("h1"), "a verified domain")


threading.Thread(target=serve_names, daemon=True).start()
with browser(*sys.argv[4:7]) as page:
    page.scripts(False)
    main_path(page)
    approval(page)
    # The path requests a missing page, and a proof that does not exist yet.
    expected = ("status of 404", "status of 422")
    log = [entry for entry in page.log() if not any(text in entry["message"] for text in expected)]
    assert not log, log
