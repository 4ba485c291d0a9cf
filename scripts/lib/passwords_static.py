"""Compares a static host with the service, range by range: passwords_static.py SERVICE_URL STATIC_URL MANIFEST"""

import http.client
import sys
import urllib.parse

hosts = [http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc) for url in sys.argv[1:3]]
with open(sys.argv[3]) as manifest:
    prefixes = [line.split("\t")[0] for line in manifest if not line.startswith("#")]
assert len(prefixes) == 10_000, len(prefixes)


def fetch(host, prefix, coding):
    # A CDN sends Via.
    host.request("GET", f"/range/{prefix}", headers={"Accept-Encoding": coding, "Via": "1.1 cdn"})
    answer = host.getresponse()
    body = answer.read()
    assert "Accept-Encoding" in answer.headers["Vary"], answer.headers
    kept = ["Content-Type", "Content-Encoding", "Content-Length", "Cache-Control", "Access-Control-Allow-Origin"]
    return answer.status, [answer.headers[name] for name in kept], body


for prefix in prefixes:
    for coding in ("identity", "gzip"):
        service, static = (fetch(host, prefix, coding) for host in hosts)
        assert service == static, (prefix, coding, service, static)
