# SPDX-License-Identifier: Apache-2.0
"""An object store for tests: moto, behind a door that verifies each signature by botocore, and fails when it is asked to.

Prints its port. GET /_door/fail?how=500&times=3 makes the next three requests fail; GET /_door/counts tells what came.
"""
import hashlib
import os
import socket
import sys
import threading
import time
from urllib.parse import parse_qs, unquote

import boto3
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

KEY_ID, KEY = "AKIDTESTTESTTESTTEST", "a-secret/of+tests"
EXPIRED = "AKIDEXPIREDEXPIRED00"
lock = threading.Lock()
fail = {"how": "", "times": 0}
counts = {"requests": 0, "bytes_out": 0, "puts": {}, "refused": 0}


def refusal(start, status, code):
    body = f"<Error><Code>{code}</Code><Message>of {KEY_ID}</Message></Error>".encode()
    start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
    return [body]


def signature_of(environ, body):
    """What botocore says the signature of this request is; empty where there is none."""
    given = environ.get("HTTP_AUTHORIZATION", "")
    if not given.startswith("AWS4-HMAC-SHA256 "):
        return "", "none"
    parts = dict(each.strip().split("=", 1) for each in given[len("AWS4-HMAC-SHA256 "):].split(","))
    key_id, _, region, service, _ = parts["Credential"].split("/")
    raw = environ.get("RAW_URI") or environ["REQUEST_URI"]
    request = AWSRequest(environ["REQUEST_METHOD"], "http://" + environ["HTTP_HOST"] + raw, data=body)
    for name in parts["SignedHeaders"].split(";"):
        field = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}.get(
            name, "HTTP_" + name.upper().replace("-", "_"))
        request.headers[name] = environ.get(field, "")
    sent = environ.get("HTTP_X_AMZ_CONTENT_SHA256", "")
    if sent != hashlib.sha256(body).hexdigest():
        return parts["Signature"], "body"
    request.context["timestamp"] = environ["HTTP_X_AMZ_DATE"]
    auth = S3SigV4Auth(Credentials(key_id, KEY), service, region)
    request.context["payload_signing_enabled"] = True
    canonical = auth.canonical_request(request)
    return parts["Signature"], auth.signature(auth.string_to_sign(request, canonical), request)


class Door:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start):
        path, query = environ["PATH_INFO"], parse_qs(environ.get("QUERY_STRING", ""))
        if path.startswith("/_door/"):
            return self.command(path, query, start)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        with lock:
            counts["requests"] += 1
            how = fail["how"] if fail["times"] > 0 else ""
            fail["times"] -= 1 if how else 0
        if how == "500":
            return refusal(start, "500 Internal Server Error", "InternalError")
        if how == "busy":
            return refusal(start, "503 Slow Down", "SlowDown")
        if how == "slow":
            time.sleep(0.5)
        if how == "skew" and abs(time.time() + 7200 - seconds_of(environ["HTTP_X_AMZ_DATE"])) > 900:
            start_late = lambda status, headers: start(status, headers + [("Date", http_date(time.time() + 7200))])
            return refusal(start_late, "403 Forbidden", "RequestTimeTooSkewed")
        if EXPIRED in environ.get("HTTP_AUTHORIZATION", ""):
            return refusal(start, "400 Bad Request", "ExpiredToken")
        given, wanted = signature_of(environ, body)
        if given != wanted:
            with lock:
                counts["refused"] += 1
            return refusal(start, "403 Forbidden", "SignatureDoesNotMatch")

        from io import BytesIO
        environ["wsgi.input"] = BytesIO(body)
        answer = {}
        chunks = b"".join(self.app(environ, lambda status, headers, _=None: answer.update(status=status, headers=headers)))
        good = answer["status"].startswith("2")
        with lock:
            counts["bytes_out"] += len(chunks)
            if environ["REQUEST_METHOD"] == "PUT" and good:
                counts["puts"][unquote(path)] = counts["puts"].get(unquote(path), 0) + 1
        if how == "cut_after" or (how == "cut" and not chunks):  # done, and nobody is reported
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionAbortedError
        start(answer["status"], answer["headers"])
        return [chunks[: len(chunks) // 2]] if how == "cut" else [chunks]

    @staticmethod
    def command(path, query, start):
        said = ""
        with lock:
            if path == "/_door/fail":
                fail["how"], fail["times"] = query["how"][0], int(query["times"][0])
            elif path == "/_door/counts":
                said = "".join(f"{name} {counts[name]}\n" for name in ("requests", "bytes_out", "refused"))
                said += "".join(f"put {name} {times}\n" for name, times in sorted(counts["puts"].items()))
                counts.update(requests=0, bytes_out=0, puts={}, refused=0)
        text = said.encode()
        start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(text)))])
        return [text]


def seconds_of(stamp):
    import calendar
    return calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))


def http_date(seconds):
    from email.utils import formatdate
    return formatdate(seconds, usegmt=True)


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass

    def send_header(self, name, value):  # one Date: the door's where it has one
        if name == "Date" and getattr(self, "dated", False):
            return
        self.dated = name == "Date"
        super().send_header(name, value)


server = make_server("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0, Door(DomainDispatcherApplication(create_backend_app)),
                     threaded=True, request_handler=Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server.server_port}", region_name="us-east-1",
                      aws_access_key_id=KEY_ID, aws_secret_access_key=KEY)
client.create_bucket(Bucket="runs")
print(server.server_port, flush=True)
sys.stdin.read()  # until whoever started it is gone
os._exit(0)
