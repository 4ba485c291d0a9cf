"""A collector and a service that sends spans: traces.py PROGRAM DATA_DIR"""

import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

program, data = sys.argv[1:]
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    received = []
    paths = set()
    hangs = threading.Event()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.hangs.is_set():
            time.sleep(60)
        self.paths.add((self.path, self.headers["content-type"]))
        self.received.append(ExportTraceServiceRequest.FromString(body))
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
collector.daemon_threads = True
threading.Thread(target=collector.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{collector.server_port}"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Service:
    def __init__(self, **settings):
        self.port, admin = free_port(), free_port()
        own = dict(DATA_DIR=data, BIND=f"127.0.0.1:{self.port}", ADMIN_BIND=f"127.0.0.1:{admin}", TLS_MODE="off")
        self.process = subprocess.Popen(
            [program, "serve"], env={**os.environ, **own, **settings}, stderr=subprocess.PIPE, text=True
        )
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz").close()
                return
            except OSError:
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.05)
        raise AssertionError("the service is not ready")

    def get(self, path, traceparent=None):
        headers = {"traceparent": traceparent} if traceparent else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, answer.headers["x-request-id"]
        except urllib.error.HTTPError as error:
            return error.code, error.headers["x-request-id"]

    def stop(self):
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        log = self.process.communicate(timeout=20)[1]
        assert self.process.returncode == 0, log
        return time.monotonic() - began, log


def taken():
    spans, resources = [], []
    for request in Collector.received:
        for group in request.resource_spans:
            resources.append({a.key: a.value.string_value for a in group.resource.attributes})
            spans += [span for scope in group.scope_spans for span in scope.spans]
    Collector.received.clear()
    return spans, resources


def attributes(span):
    return {a.key: a.value.string_value or a.value.int_value for a in span.attributes}


fast = dict(OTLP_ENDPOINT=endpoint + "/", OTEL_BSP_SCHEDULE_DELAY="100", DRAIN_SECONDS="0")

# A caller's trace, a new trace, an error of the client; the last spans arrive at the stop.
service = Service(**fast)
began = time.time_ns()
sampled = service.get("/range/5BAA6", f"00-{TRACE}-{PARENT}-01")
unsampled = service.get("/range/5BAA6", f"00-{TRACE}-{PARENT}-00")
own = service.get("/range/21BD1")
missing = service.get("/range/nothing?secret=1")
service.stop()
spans, resources = taken()
by_id = {attributes(span)["quintet.request_id"]: span for span in spans}
assert unsampled[1] not in by_id
child, root, refused = (by_id[answer[1]] for answer in (sampled, own, missing))
assert child.trace_id.hex() == TRACE and child.parent_span_id.hex() == PARENT
assert len(child.span_id) == 8 and child.span_id.hex() != PARENT
assert root.parent_span_id == b"" and root.trace_id.hex() != TRACE and any(root.trace_id)
assert child.kind == child.SPAN_KIND_SERVER
assert child.name == "GET /range/{prefix}", child.name
assert began <= child.start_time_unix_nano <= child.end_time_unix_nano <= time.time_ns()
found = attributes(child)
assert found["http.route"] == "/range/{prefix}" and found["http.request.method"] == "GET"
assert found["http.response.status_code"] == 200 and found["http.response.body.size"] > 0
assert attributes(refused)["http.response.status_code"] == missing[0] >= 400
assert not any("secret" in str(span) for span in spans)
assert {resource["service.name"] for resource in resources} == {"passwords"}
assert all(resource["service.version"] for resource in resources)
assert Collector.paths == {("/v1/traces", "application/x-protobuf")}, Collector.paths

# With a ratio of 0, only the traces of callers remain.
service = Service(**fast, OTLP_RATIO="0")
for _ in range(20):
    service.get("/range/5BAA6")
sampled = service.get("/range/5BAA6", f"00-{TRACE}-{PARENT}-01")
service.stop()
spans, _ = taken()
assert [attributes(span)["quintet.request_id"] for span in spans] == [sampled[1]]

# A collector that is down or hangs does not delay requests, and delays a shutdown by only a few seconds.
for name, address, hangs in [("away", f"http://127.0.0.1:{free_port()}", False), ("hanging", endpoint, True)]:
    if hangs:
        Collector.hangs.set()
    service = Service(**{**fast, "OTLP_ENDPOINT": address})
    slowest = 0
    for _ in range(3000):
        began = time.monotonic()
        assert service.get("/range/5BAA6")[0] == 200
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 2, slowest
    seconds, log = service.stop()
    print(f"  collector {name}: slowest request {slowest * 1000:.0f} ms, stop {seconds:.1f} s", file=sys.stderr)
    assert seconds < 10, seconds
    assert " WARN " in log or " ERROR " in log, "the log does not say that spans are lost: " + log[-600:]

refused = subprocess.run(
    [program, "serve", "--check"], env={**os.environ, "DATA_DIR": data, "OTLP_ENDPOINT": "collector:4318"}, stderr=subprocess.PIPE, text=True
)
assert refused.returncode == 2 and "http://collector:4318" in refused.stderr, refused.stderr
