"""A headless Chromium that opens one page, runs JavaScript in it and takes pictures, commanded
through a pipe."""

from __future__ import annotations

import atexit
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any

from ..errors import NhmechError

TIMEOUT = 60.0      # [s] of an answer, and of a condition
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--remote-debugging-pipe",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader",  # no graphics card is needed
         "--disable-gpu-compositing",    # without one, that takes as long as drawing the scene
         "--disable-quic", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage",
         # lists below the address line: pages of their own, made anew with each window
         "--disable-features=WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup")


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome on PATH, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A headless Chromium, commanded through a pipe; it ends with this process."""

    def __init__(self) -> None:
        program = find_chromium()
        if program is None:
            raise NhmechError("pictures need Chromium or Chrome on PATH, for example: apt install "
                              "chromium")
        self._buffer, self._count, self._lock = b"", 0, threading.Lock()
        self._profile = tempfile.mkdtemp(prefix="nhmech-chromium-")
        read_in, self._out = _open_pipe()
        self._in, write_out = _open_pipe()
        command = [program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        shell = ["/bin/sh", "-c", f'exec "$0" "$@" 3</dev/fd/{read_in} 4>/dev/fd/{write_out}',
                 *command]
        self._process = subprocess.Popen(
            shell, pass_fds=(read_in, write_out), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_in)
        os.close(write_out)
        self._owner = os.getpid()
        atexit.register(self.close)

    def serves(self) -> bool:
        """Whether the program runs, and was started by this process (not by one it forked from)."""
        return self._owner == os.getpid() and self._process.poll() is None

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        """Send one command of the DevTools protocol; its answer."""
        with self._lock:
            try:
                return self._exchange(method, time.monotonic() + TIMEOUT, session, parameters)
            except TimeoutError:
                self.close()  # the next page starts one that answers
                raise NhmechError(f"Chromium does not answer ({method}, limit {TIMEOUT:g} s)"
                                  ) from None

    def close(self) -> None:
        """End the program and remove its profile; harmless when called again."""
        atexit.unregister(self.close)
        if self._owner != os.getpid() or self._in < 0:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._in = self._out = -1
        shutil.rmtree(self._profile, ignore_errors=True)

    def _exchange(self, method: str, end: float, session: str | None,
                  parameters: dict[str, object]) -> dict:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise NhmechError(f"Chromium ended ({method}): {error}") from error
        while True:
            while b"\0" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\0")
                answer = json.loads(line)
                if answer.get("id") == self._count:
                    if "error" in answer:
                        raise NhmechError(f"Chromium: {method}: {answer['error'].get('message')}")
                    return answer["result"]
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            data = os.read(self._in, 1 << 20)
            if not data:
                raise NhmechError(f"Chromium ended ({method})")
            self._buffer += data


_running: list[Chromium] = []  # at most one: the compiled shaders of its pages serve the next page


def share_chromium() -> Chromium:
    """The Chromium of this process, started if necessary."""
    if not (_running and _running[0].serves()):
        _running[:] = [Chromium()]
    return _running[0]


class Browser:
    """Opens `url` in a window of `size` (width, height) [pixels]; a context manager.

    The windows of one process are those of one Chromium, which is started with the first of them
    and ends with the process: a second page of the same kind is ready sooner, since its shaders are
    compiled.
    """

    def __init__(self, url: str, size: tuple[int, int] = (1000, 700)):
        self._chromium = share_chromium()
        self._target: str | None = self._call(
            "Target.createTarget", url="about:blank", newWindow=True, width=size[0],
            height=size[1])["targetId"]
        try:
            self._session = self._call("Target.attachToTarget", targetId=self._target,
                                       flatten=True)["sessionId"]
            self._page("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                       deviceScaleFactor=1, mobile=False)
            self._page("Page.navigate", url=url)
        except BaseException:
            self.close()
            raise

    def evaluate(self, script: str) -> Any:
        """Value of a JavaScript expression in the page; promises are awaited."""
        answer = self._page("Runtime.evaluate", expression=script, returnByValue=True,
                            awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description", details.get("text"))
            raise NhmechError(f"page: {text}")
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + TIMEOUT
        attempt = f"try {{ return Boolean({condition}); }} catch (e) {{ return false; }}"
        script = f"(() => {{ {attempt} }})()"
        while not self.evaluate(script):
            if time.monotonic() > end:
                raise NhmechError(f"page: {condition} is still not true after {TIMEOUT:g} s")
            time.sleep(0.05)

    def picture(self) -> bytes:
        """PNG of the page as it is now, after two more frames have been drawn."""
        self.evaluate("new Promise(done => "
                      "requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
        return base64.b64decode(self._page("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """Close the window; harmless when called again."""
        if self._target is not None and self._chromium.serves():
            with suppress(NhmechError):  # one that has ended shows no window
                self._call("Target.closeTarget", targetId=self._target)
        self._target = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _page(self, method: str, **parameters: object) -> dict:
        return self._call(method, session=self._session, **parameters)

    def _call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        return self._chromium.call(method, session, **parameters)


def _open_pipe() -> tuple[int, int]:
    """A pipe's two ends, numbered from 10 up: Chromium wants its own to be 3 and 4."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return read, write
