"""A real HTTP server on a free local port that serves files with configured faults."""

import contextlib
import re
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FaultyServer:
    """Serve files by name, with faults.

    Each response uses up one of the faults in `cuts`, `resets` or `refusals`; the others stay.
    """

    def __init__(self):
        self.files = {}  # name: bytes
        self.cuts = []  # bytes of the body to send before a regular end
        self.resets = []  # the same, but the connection breaks
        self.refusals = []  # HTTP statuses to answer with instead
        self.redirects = {}  # name: address
        self.has_ranges = True
        self.has_length = True
        self.is_chunked = False
        self.shift = 0  # bytes between the requested and the actual start of a range
        self.is_silent = False
        self.requests = []  # (name, Range or None)
        self._stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    def address(self, name):
        return f"http://127.0.0.1:{self._server.server_port}/{name}"

    def ranges(self):
        return [wanted for _, wanted in self.requests]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                name = self.path.removeprefix("/")
                script.requests.append((name, self.headers.get("Range")))
                self.close_connection = True
                if script.is_silent:
                    script._stopped.wait(600)
                elif script.refusals:
                    self.send_error(script.refusals.pop(0))
                elif name in script.redirects:
                    self.send_response(302)
                    self.send_header("Location", script.redirects[name])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif name not in script.files:
                    self.send_error(404)
                else:
                    self.answer(script.files[name])

            def answer(self, content):
                start = 0
                if script.has_ranges and (
                    wanted := re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
                ):
                    start = int(wanted[1]) + script.shift
                    if start >= len(content):
                        self.send_response(416)
                        self.send_header("Content-Range", f"bytes */{len(content)}")
                        self.send_header("Content-Length", "0")
                        self.end_headers()
                        return
                    self.send_response(206)
                    self.send_header(
                        "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                    )
                else:
                    self.send_response(200)
                body = content[start:]
                if script.is_chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                    body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
                elif script.has_length:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.send(body)

            def send(self, body):
                if script.resets:
                    self.wfile.write(body[: script.resets.pop(0)])
                    self.wfile.flush()
                    linger = struct.pack("ii", 1, 0)  # closing breaks the connection
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.connection.close()
                else:
                    self.wfile.write(body[: script.cuts.pop(0)] if script.cuts else body)

            def log_message(self, *_):
                pass

            def finish(self):
                with contextlib.suppress(OSError):  # the connection may be broken already
                    super().finish()

        return Handler
