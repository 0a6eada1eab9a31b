"""A meshcat-server that runs already, for users who have its page open or embed it; every call ends
within a time limit."""

from __future__ import annotations

from typing import Any

import umsgpack

from ..errors import NhmechError

TIMEOUT = 2.0       # [s] of an answer
KNOWN = ("set_transform", "set_object", "set_property", "delete")


class RemoteWindow:
    """Sends messages to the meshcat-server at `zmq_url`, for example tcp://127.0.0.1:6000. Every
    message is a round trip.

    The page is meshcat's own: it draws the same bodies, ground and trails, but the camera stays
    where its user puts it.
    """

    def __init__(self, zmq_url: str):
        import zmq

        self._zmq, self._zmq_url = zmq, zmq_url
        self._socket: Any = zmq.Context.instance().socket(zmq.REQ)
        for option in (zmq.RCVTIMEO, zmq.SNDTIMEO):
            self._socket.setsockopt(option, int(1000 * TIMEOUT))
        self._socket.setsockopt(zmq.LINGER, 0)
        try:
            self._socket.connect(zmq_url)
        except zmq.ZMQError as error:
            raise NhmechError(f"viewer: {zmq_url!r} is not the address of a meshcat-server, such "
                              f"as 'tcp://127.0.0.1:6000' ({error})") from error
        self.url = self._ask([b"url"]).decode()

    def send(self, messages: list[dict]) -> None:
        """Send messages one by one; those that only the page of this package knows are left out."""
        self._check()
        for message in messages:
            if message["type"] in KNOWN:
                self._ask([message["type"].encode(), message["path"].encode(),
                           umsgpack.packb(message)])

    def forget(self, prefix: str) -> None:
        """Delete everything under `prefix`."""
        self.send([{"type": "delete", "path": prefix}])

    def wait_for_browser(self, timeout: float) -> bool:
        """Always true: asking a meshcat-server about its browsers may hang."""
        return True

    def close(self) -> None:
        """Disconnect; the server runs on. Harmless when called again."""
        self._socket.close()

    def _check(self) -> None:
        if self._socket.closed:
            raise NhmechError(f"viewer: the connection to {self._zmq_url} is closed; make a new "
                              "Viewer")

    def _ask(self, frames: list[bytes]) -> bytes:
        self._check()
        try:
            self._socket.send_multipart(frames)
            return self._socket.recv()
        except self._zmq.ZMQError as error:
            self._socket.close()  # a REQ socket is of no use after a lost answer
            raise NhmechError(f"viewer: the meshcat-server at {self._zmq_url} does not answer "
                              f"within {TIMEOUT:g} s; is it running?") from error
