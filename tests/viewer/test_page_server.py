"""The page's server: who may speak to it, what it answers, and that the device is freed."""

from __future__ import annotations

import http.client
import io
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.bricks import BrickStore
from bindless.viewer.server import PageServer
from bindless.viewer.session import Session, png_of

image = pytest.importorskip("PIL.Image", reason="pip install 'bindless[view]'")

VOLUME = np.random.default_rng(1).integers(0, 255, (20, 30, 40)).astype(np.uint8)


@pytest.fixture
def session(queue: bl.Queue) -> Iterator[Session]:
    session = Session(lambda: BrickStore(VOLUME, queue, memory="16MB"))
    yield session
    session.close()


@pytest.fixture
def server(session: Session) -> Iterator[PageServer]:
    with PageServer(session) as server:
        yield server


def ask(server: PageServer, name: str, content: Any = None, **headers: str) -> tuple[int, bytes, Any]:
    """Status, body and headers of an answer; a path from / on is taken as it is."""
    token = server.address.rstrip("/").rpartition("/")[2]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    path = name if name.startswith("/") else f"/{token}/{name}"
    body = None if content is None else content if isinstance(content, bytes) else json.dumps(content).encode()
    connection.request(
        "GET" if body is None else "POST", path, body, {key.replace("_", "-"): text for key, text in headers.items()}
    )
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, answer.headers


def test_the_page_and_its_parts_need_the_token_and_no_network(server: PageServer) -> None:
    for name in ("", "page.js", "page.css", "info"):
        status, data, headers = ask(server, name)
        assert status == 200 and data and "default-src 'none'" in headers["Content-Security-Policy"]
        assert b"https://" not in data and b"http://" not in data
    for path in ("/", "/info", "/x/", "/x/info", "//", "/%2e/", "/" + "a" * 32 + "/"):
        assert ask(server, path)[0] == 403
        assert ask(server, path, {})[0] == 403
    assert ask(server, "other")[0] == 404 and ask(server, "other", {})[0] == 404
    assert ask(server, "../view.py")[0] == 404 and ask(server, "page.js/../../session.py")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.org"}, {"Host": "127.0.0.1"}, {"Host": "localhost.example.org:80"}, {"Host": ""},
        {"Origin": "http://example.org"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
    ],
)  # fmt: skip
def test_other_origins_are_refused(server: PageServer, headers: dict[str, str]) -> None:
    assert ask(server, "info", **headers)[0] == 403
    assert ask(server, "ping", {}, **headers)[0] == 403


def test_a_page_that_goes_in_the_midst_prints_nothing(server: PageServer, capfd: pytest.CaptureFixture[str]) -> None:
    """Its connection is reset while the server waits for the next request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", server.address.partition(str(server.port))[2] + "page.js")
    assert connection.getresponse().status == 200
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    end = time.monotonic() + 30
    while any("process_request_thread" in thread.name for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert capfd.readouterr() == ("", "")


def test_own_names_are_served(server: PageServer) -> None:
    for host in ("127.0.0.1", "localhost"):
        own = f"{host}:{server.port}"
        assert ask(server, "ping", {}, Host=own, Origin=f"http://{own}", Sec_Fetch_Site="same-origin")[0] == 200


def test_frames_values_and_status(server: PageServer, session: Session) -> None:
    request = {"page": "a", "view": {"extent": 30}, "width": 40, "height": 30, "quality": 90}
    status, data, headers = ask(server, "frame", request)
    told = json.loads(headers["X-Bindless"])
    assert status == 200 and image.open(io.BytesIO(data)).size == (40, 30) and told["level"] == 0
    while not told["is_complete"]:
        told = json.loads(ask(server, "frame", request)[2]["X-Bindless"])
    value = json.loads(ask(server, "value", {"page": "a", "x": 0.26, "y": 0.51})[1])
    np.testing.assert_allclose(value["point"], (10, 15, 9.5))
    np.testing.assert_allclose(value["numbers"], [VOLUME[9:11, 15, 10].mean()], atol=0.01)
    assert json.loads(ask(server, "info")[1])["sizes"] == [20, 30, 40]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{", b"[" * 50_000, b'{"view": NaN}', {}, {"view": 1}, {"view": {"mode": "x"}},
        {"view": {}, "width": 0, "height": 5, "quality": 50}, {"view": {}, "width": 1e6, "height": 1e6, "quality": 50},
        {"view": {}, "width": True, "height": 5, "quality": 50}, {"view": {}, "width": "5", "height": 5, "quality": 5},
    ],
)  # fmt: skip
def test_wrong_requests_are_told(server: PageServer, content: Any) -> None:
    status, data, _ = ask(server, "frame", content)
    assert status == 400 and json.loads(data)["error"]
    assert ask(server, "ping", {})[0] == 200


def test_requests_are_small(server: PageServer) -> None:
    assert ask(server, "frame", b" " * (1 << 17))[0] == 413
    assert ask(server, "frame", b"{}", Content_Length="-1")[0] in (400, 411)


def test_the_last_page_that_leaves_frees_the_device(server: PageServer, session: Session) -> None:
    request = {"view": {}, "width": 8, "height": 8, "quality": 50}
    assert session.is_open
    for page in ("a", "b"):
        assert ask(server, "frame", {**request, "page": page})[0] == 200
    ask(server, "leave", {"page": "a"})
    assert session.is_open
    ask(server, "leave", {"page": "b"})
    assert not session.is_open
    assert ask(server, "frame", {**request, "page": "c"})[0] == 200 and session.is_open


def test_a_source_that_fails_is_told_and_the_rest_goes_on(queue: bl.Queue) -> None:
    class Gone:
        shape, dtype = (8, 300, 300), np.dtype(np.uint8)

        def __getitem__(self, part: Any) -> Any:
            if part[1].step is None:
                raise OSError("the disk is gone")
            return np.zeros([len(range(*axis.indices(size))) for axis, size in zip(part, self.shape)], np.uint8) + 3

    session = Session(lambda: BrickStore(Gone(), queue, memory="16MB"))
    with PageServer(session) as server:
        request = {"page": "a", "view": {}, "width": 300, "height": 300, "quality": 90}
        status: dict[str, Any] = {"is_complete": False}
        while not (status["is_complete"] and status["errors"]):
            code, data, headers = ask(server, "frame", request)
            status = json.loads(headers["X-Bindless"])
            assert code == 200 and image.open(io.BytesIO(data)).size == (300, 300)
        assert "the disk is gone" in status["error"]
    session.close()


def test_a_port_that_is_taken(server: PageServer, session: Session) -> None:
    with pytest.raises(bl.InvalidError):
        PageServer(session, server.port)
    with pytest.raises(bl.InvalidError):
        PageServer(session, 99_999)


def test_png_files_have_the_pixels() -> None:
    pixels = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    np.testing.assert_array_equal(np.asarray(image.open(io.BytesIO(png_of(pixels)))), pixels)
