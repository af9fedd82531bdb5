"""A server of one page for this machine's browsers: on 127.0.0.1, behind a token that its address has."""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from types import TracebackType
from typing import Any

from ..model.errors import Error, InvalidError
from .session import Session

__all__ = ["PageServer"]

_FILES = {
    "": ("page.html", "text/html"),
    "page.js": ("page.js", "text/javascript"),
    "page.css": ("page.css", "text/css"),
}
_MOST = 1 << 16  # bytes of a request
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer:
    """Serves the page of a session, from threads of its own.

    Parameters
    ----------
    session : Session
        What the page shows. It belongs to the caller.
    port : int
        Of 127.0.0.1; 0 is a free one.

    Raises
    ------
    InvalidError
        The port is not free.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self._token = secrets.token_urlsafe(24)
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise InvalidError(
                f"port {port} of 127.0.0.1 cannot be served: {error}; --port 0 takes a free one"
            ) from error
        self.port = int(self._server.server_address[1])
        self._server.session, self._server.token = session, self._token
        self._server.hosts = {f"{host}:{self.port}" for host in ("127.0.0.1", "localhost")}
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="bindless page", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Of the page, with the token."""
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def wait(self) -> None:
        """Until the program is interrupted."""
        while self._thread.is_alive():
            self._thread.join(0.2)

    def close(self) -> None:
        """Ends the server; a second call does nothing."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> PageServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 32
    session: Session
    token: str
    hosts: set[str]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a page that went in the midst of a request, at any point of it."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "bindless", ""
    timeout = 60

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name == "info":
            self._json(200, self.server.session.info)
        elif name in _FILES:
            file, kind = _FILES[name]
            data = (resources.files(__package__) / "page" / file).read_bytes()
            self._answer(200, data, f"{kind}; charset=utf-8")
        else:
            self._refuse(404)

    def do_POST(self) -> None:
        name, session = self._name(), self.server.session
        if name is None:
            return
        request = self._request()
        if request is None:
            return
        try:
            if name == "frame":
                data, status = session.frame(request)
                self._answer(200, data, "image/jpeg", {"X-Bindless": json.dumps(status)})
            elif name in ("value", "ping", "leave"):
                self._json(200, getattr(session, name)(request))
            else:
                self._refuse(404)
        except (ConnectionError, TimeoutError):  # the page is gone
            self.close_connection = True
        except (Error, OSError, MemoryError) as error:
            self._json(400 if isinstance(error, InvalidError) else 500, {"error": str(error)[:2000]})

    def _name(self) -> str | None:
        """What is asked for, after the token; None where the request was refused."""
        token, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "same-origin")
        is_own = self.headers.get("Host", "") in self.server.hosts and site in ("same-origin", "none")
        is_own = is_own and (origin is None or origin.removeprefix("http://") in self.server.hosts)
        if is_own and hmac.compare_digest(token.encode(), self.server.token.encode()):
            return name
        self._refuse(403)
        return None

    def _request(self) -> dict[str, Any] | None:
        """The object of JSON that was sent; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > _MOST:
            self._refuse(413 if length.isdigit() else 411)
            return None
        try:
            request = json.loads(self.rfile.read(int(length)) or b"{}", parse_constant=_no_number)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            self._json(400, {"error": "the request is no object of JSON"})
            return None
        return request

    def _refuse(self, code: int) -> None:
        self.close_connection = True
        self._answer(code, b"", "text/plain")

    def _json(self, code: int, content: Any) -> None:
        self._answer(code, json.dumps(content).encode(), "application/json")

    def _answer(self, code: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            **_HEADERS,
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing: addresses have the token."""


def _no_number(text: str) -> float:
    raise ValueError(text)
