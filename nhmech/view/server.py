"""A small web server inside this process that shows meshcat's page.

No second process: nothing can outlive the program or hang it.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import umsgpack

from ..errors import NhmechError

HOSTS = ("127.0.0.1", "localhost")      # whatever the port, which a tunnel may change
LONGEST = 4096  # [bytes] of a message that comes in; a longer one ends its connection
PERIOD = 0.016  # [s] between two sendings to the browsers: a frame of a screen
STARTED = 60.0  # [s] until it answers at the latest, on a computer that is very busy too


class Server:
    """Serves `page` on the loopback interface, on a free port, and passes messages on to every
    browser that shows it.

    `send` never waits. The last message of each kind for each path is kept for browsers that open
    the page later; what changes several times within 16 ms is sent once. The thread is a daemon: it
    ends with the program. `receive` gets each message of the page, in the server's thread; others
    are dropped: only a browser with the page open names this very address as its origin.
    """

    def __init__(self, page: str, receive: Callable[[str | bytes], None] | None = None):
        self.page, self._receive, self._lock = page, receive, threading.Lock()
        # (type, path, property) of a message -> the message, packed
        self._scene: dict[tuple, bytes] = {}
        self._pending: dict[tuple, bytes] = {}
        self._heads: dict[str, bytes] = {}
        self._browsers: set[Any] = set()
        self._due, self._sent = False, 0.0
        self._looked_at, self._started = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="nhmech-viewer", daemon=True)
        self._thread.start()
        if not self._started.wait(STARTED) or self._error is not None:
            why = self._error or f"it does not answer within {STARTED:g} s"
            raise NhmechError(f"viewer: no web server could be started on 127.0.0.1: {why}")

    def send(self, messages: list[dict]) -> None:
        """Hand messages over to the server's thread. Raises `NhmechError` if it has ended."""
        if not self._thread.is_alive():
            why = f" ({self._error})" if self._error else ""
            raise NhmechError(f"viewer: its server is closed{why}; make a new Viewer")
        packed = {(m["type"], m.get("path"), m.get("property")): self._pack(m) for m in messages}
        with self._lock:
            self._scene.update(packed)
            self._pending.update(packed)
        self._wake()

    def forget(self, prefix: str) -> None:
        """Delete everything under `prefix`, here and in the browsers."""
        with self._lock:
            for store in (self._scene, self._pending):
                for key in [k for k in store if k[1] is not None and k[1].startswith(prefix)]:
                    del store[key]
            self._heads = {path: head for path, head in self._heads.items()
                           if not path.startswith(prefix)}
            deletion = {"type": "delete", "path": prefix}
            self._pending["delete", prefix, None] = umsgpack.packb(deletion)
        self._wake()

    def wait_for_browser(self, timeout: float) -> bool:
        """Whether a browser has opened the page, after waiting for it at most `timeout` [s]."""
        return self._looked_at.wait(timeout)

    def close(self) -> None:
        """Send what is left and stop; harmless when called again."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5.0)

    def _pack(self, message: dict) -> bytes:
        """Its MessagePack. A move ends with its matrix; what stands before that is packed once for
        each path, since packing costs as much as everything else of a frame."""
        if message["type"] != "set_transform":
            return umsgpack.packb(message)
        path, numbers = message["path"], message["matrix"].data
        if path not in self._heads:
            self._heads[path] = umsgpack.packb(message)[:-len(numbers)]
        return self._heads[path] + numbers

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._serve()
            self._started.set()
            self._loop.run_forever()
            self._flush()
            self._loop.run_until_complete(self._stop())
        except BaseException as error:  # the next `send` raises it
            self._error = error
        finally:
            self._started.set()
            self._loop.close()

    def _serve(self) -> None:
        import tornado.httpserver
        import tornado.netutil
        import tornado.web

        handlers = _make_handlers(self.page, self._open, self._browsers.discard, self._receive)
        sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
        pages = tornado.web.Application(handlers, log_function=lambda _: None,
                                        websocket_max_message_size=LONGEST)
        self._http = tornado.httpserver.HTTPServer(pages)
        self._http.add_sockets(sockets)

    def _open(self, browser: Any) -> None:
        """Shows the scene as it is to a browser, which then gets what changes."""
        with self._lock:
            scene = list(self._scene.values())
        browser.show(_array(scene))
        self._browsers.add(browser)
        self._looked_at.set()

    def _wake(self) -> None:
        """Makes the server's thread send soon. There is no timer: beside a busy loop, each turn of
        a thread costs milliseconds."""
        with self._lock:
            waits, self._due = self._due, True
        if not waits:
            with suppress(RuntimeError):  # just closed; the next `send` raises
                self._loop.call_soon_threadsafe(self._schedule)

    def _schedule(self) -> None:
        rest = self._sent + PERIOD - self._loop.time()
        if rest > 0:
            self._loop.call_later(rest, self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        self._sent = self._loop.time()
        with self._lock:
            pending, self._pending, self._due = list(self._pending.values()), {}, False
        for browser in list(self._browsers) if pending else ():
            browser.show(_array(pending))

    async def _stop(self) -> None:
        self._http.stop()
        for browser in list(self._browsers):
            browser.close()
        await asyncio.sleep(0.05)
        await self._http.close_all_connections()


def _make_handlers(page: str, open_scene: Callable[[Any], None],
                   close_scene: Callable[[Any], None],
                   receive: Callable[[str | bytes], None] | None) -> list[tuple[str, type]]:
    """tornado's handlers of the page, and of the connections that carry the scene."""
    import tornado.web
    import tornado.websocket

    class Local(tornado.web.RequestHandler):
        """Serves requests under this machine's own names only: a page elsewhere whose name resolves
        to this machine (DNS rebinding) gets nothing."""

        def prepare(self) -> None:
            if self.request.host_name not in HOSTS:
                self.send_error(403)

    class Page(Local):
        def get(self) -> None:
            self.set_header("Cache-Control", "no-store")
            self.finish(page)

    class SceneSocket(Local, tornado.websocket.WebSocketHandler):
        def open(self, *_: str, **__: str) -> None:
            self.set_nodelay(True)
            open_scene(self)

        def show(self, packed: bytes) -> None:
            """Sends a message, unless the browser has just been closed."""
            with suppress(tornado.websocket.WebSocketClosedError):
                sent = self.write_message(packed, binary=True)
                sent.add_done_callback(lambda done: done.cancelled() or done.exception())

        def on_message(self, message: str | bytes) -> None:
            """Of the page itself, whose origin is the address that was asked for; a program that
            names none may look, and says nothing."""
            origin = urlsplit(self.request.headers.get("Origin", "")).netloc
            if receive is not None and origin == self.request.host:
                receive(message)

        def on_close(self) -> None:
            close_scene(self)

    return [("/", Page), ("/scene", SceneSocket)]


def _array(packed: list[bytes]) -> bytes:
    """One MessagePack array of messages that are packed already."""
    return b"\xdd" + struct.pack(">I", len(packed)) + b"".join(packed)
