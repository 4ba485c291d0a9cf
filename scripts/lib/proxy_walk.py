"""Walks through the pages of a service behind a proxy: every link, form, redirect and cookie must stay below
the URL of the service, and every link must lead somewhere.

proxy_walk.py URL CA [PATH...]; prints the number of pages.
"""

import http.cookiejar
import json
import re
import ssl
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

MOST = 300
ALIKE = 6
base, ca, starts = sys.argv[1].rstrip("/") + "/", sys.argv[2], sys.argv[3:]


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.followed, self.named = [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.followed.append(value or "")
            elif name == "action" or name == "content" and (value or "").startswith("http"):
                self.named.append(value or "")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(
    urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)),
    urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
    NoRedirect(),
)


def fetch(url):
    request = urllib.request.Request(url, headers={"User-Agent": "walk", "Accept": "text/html"})
    try:
        answer = opener.open(request, timeout=30)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()


def target(page, link):
    """Returns the target of a link, or None for other hosts and schemes. The target must not leave the service."""
    url = urldefrag(urljoin(page, link))[0]
    if url.startswith("webcal:"):
        url = "https" + url[len("webcal"):]
    if urlsplit(url).hostname != urlsplit(base).hostname:
        return None
    if not url.startswith(base):
        sys.exit(f"{link} on {page} leads to {url}, out of {base}")
    return url


seen, queue, shapes = set(), [], {}


def follow(page, link):
    url = target(page, link)
    if not url or url in seen:
        return
    # Months never end: visits only a few URLs that differ in digits.
    shape = re.sub("[0-9]", "0", url)
    shapes[shape] = shapes.get(shape, 0) + 1
    if shapes[shape] <= ALIKE:
        seen.add(url)
        queue.append((url, page))


for start in starts or ["", "docs", "openapi.json", "docs/swagger-initializer.js"]:
    follow(base, start)
while queue:
    url, page = queue.pop(0)
    status, headers, body = fetch(url)
    if status >= 400 and status not in (401, 403):
        sys.exit(f"{url}, a link of {page}, is {status}")
    if headers["Location"]:
        follow(url, headers["Location"])
    for cookie in headers.get_all("Set-Cookie") or []:
        if f"; Path={urlsplit(base).path};" not in cookie:
            sys.exit(f"{url} sets a cookie for another path: {cookie}")
    kind = headers["Content-Type"] or ""
    if kind.startswith("text/html"):
        links = Links()
        links.feed(body.decode())
        for link in links.named:
            target(url, link)
        for link in links.followed:
            follow(url, link)
    elif url.endswith("/swagger-initializer.js"):
        follow(base + "docs/", body.decode().split('"url": "')[1].split('"')[0])
    elif url == base + "openapi.json":
        for server in json.loads(body)["servers"]:
            target(url, server["url"].rstrip("/") + "/")
    if len(seen) > MOST:
        sys.exit(f"more than {MOST} pages")
print(len(seen))
