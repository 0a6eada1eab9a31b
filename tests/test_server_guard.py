"""Who may look at the live page."""

import gc
import http.client
import socket
import struct
import time
from urllib.parse import urlsplit

import pytest

from nhmech.view.server import Server


@pytest.mark.parametrize("path", ["/", "/scene"])
@pytest.mark.parametrize("host, served", [("127.0.0.1:80", True), ("localhost:8080", True),
                                          ("evil.example", False),
                                          ("127.0.0.1.evil.example", False)])
def test_only_names_of_this_machine_are_served(path, host, served):
    server = Server("a page")
    try:
        asked = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=120)
        asked.request("GET", path, headers={"Host": host})
        status = asked.getresponse().status
    finally:
        server.close()
    assert (status == 403) == (not served)


def test_a_browser_that_goes_away_leaves_no_traceback(caplog):
    """In the middle of what is sent to it, as when its window is closed."""
    server = Server("a page")
    try:
        host, port = urlsplit(server.url).netloc.split(":")
        looks = socket.create_connection((host, int(port)))
        looks.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        looks.sendall(f"GET /scene HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        assert looks.recv(12) == b"HTTP/1.1 101"
        assert server.wait_for_browser(120.0)
        for k in range(30):
            server.send([{"type": "set_object", "path": f"/{k}", "object": "x" * 300_000}])
            time.sleep(0.02)
        looks.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        looks.close()
        time.sleep(0.2)
    finally:
        server.close()
    gc.collect()
    assert not caplog.records
