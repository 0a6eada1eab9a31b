"""Ctrl-C that is heard: libraries in C clear Python's pending exceptions, and with them a
`KeyboardInterrupt` that came at a bad moment."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.05      # [s] after which one that was lost is raised again; nobody notices it


class _Press:
    """Of the process: signals come to its main thread alone."""

    depth = 0              # of blocks that listen
    waits = False          # a press that no block has ended by
    is_echo = False        # the next call of the handler is no new press


@contextmanager
def hear_ctrl_c() -> Iterator[None]:
    """Ctrl-C in the block, or in the function that it decorates, ends it by `KeyboardInterrupt`:
    at once, or some 50 ms later where C code has cleared that; also in the place of another
    exception, which the clearing may have caused.

    A block that handles `KeyboardInterrupt` itself says so by `forget_ctrl_c`. Handlers of others,
    and other threads, are left alone.
    """
    if not _may_listen():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if _Press.depth == 0:
        _Press.waits = False
        signal.signal(signal.SIGINT, _handle)
    _Press.depth += 1
    try:
        yield
    except BaseException as error:
        if _Press.waits and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    else:
        if _Press.waits:
            raise KeyboardInterrupt
    finally:
        _Press.depth -= 1
        if _Press.depth == 0:
            _Press.waits = False
            signal.signal(signal.SIGINT, before)


def forget_ctrl_c() -> None:
    """The press has been dealt with: what listens around goes on."""
    _Press.waits = False


def _may_listen() -> bool:
    if threading.current_thread() is not threading.main_thread():
        return False
    return _Press.depth > 0 or signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _handle(_number: int, _frame: FrameType | None) -> None:
    is_echo, _Press.is_echo = _Press.is_echo, False
    if is_echo and (not _Press.waits or _is_handled()):
        return
    if not _Press.waits:
        _Press.waits = True
        _thread.start_new_thread(_echo, ())
    raise KeyboardInterrupt


def _is_handled() -> bool:
    """Whether a `KeyboardInterrupt` is on its way out, through what cleans up after it."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _echo() -> None:
    while _Press.waits:
        time.sleep(AGAIN)
        if _Press.waits:
            _Press.is_echo = True
            _thread.interrupt_main()
