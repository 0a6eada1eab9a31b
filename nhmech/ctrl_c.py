"""Ctrl-C that takes effect: libraries in C clear Python's pending exceptions, and with them a
`KeyboardInterrupt` that arrives at a bad moment."""

from __future__ import annotations

# `signal` makes enumerations of numbers and handlers, in 25 calls for each block
import _signal
import _thread
import signal
import sys
import threading
import time
from contextlib import ContextDecorator
from types import FrameType

AGAIN = 0.05      # [s] after which a lost one is raised again; too short to notice


class _Press:
    """Of the process: signals come to its main thread alone."""

    thread = threading.main_thread().ident
    depth = 0              # of blocks that listen
    is_ours = False        # the handler; that of others is left alone
    waits = False          # a press that no block has ended by
    is_echo = False        # the next call of the handler is no new press


class hear_ctrl_c(ContextDecorator):
    """Ctrl-C in the block, or in the function that it decorates, ends it by `KeyboardInterrupt`:
    at once, or some 50 ms later where C code has cleared that; also in the place of another
    exception, which the clearing may have caused.

    A block that handles `KeyboardInterrupt` itself says so by `forget_ctrl_c`. Handlers of others,
    and other threads, are left alone.
    """

    def __enter__(self) -> None:
        if threading.get_ident() != _Press.thread:
            return
        if _Press.depth == 0:
            _Press.is_ours = _signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if _Press.is_ours:
                _signal.signal(signal.SIGINT, _handle)
            _Press.waits = False
        _Press.depth += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if threading.get_ident() != _Press.thread:
            return
        _Press.depth -= 1
        was_pressed = _Press.waits
        if _Press.depth == 0:
            _Press.waits = False
            if _Press.is_ours:
                _signal.signal(signal.SIGINT, signal.default_int_handler)
        if was_pressed and not (kind and issubclass(kind, KeyboardInterrupt)):
            raise KeyboardInterrupt from None


def forget_ctrl_c() -> None:
    """Marks the press as handled, so that the code around goes on."""
    _Press.waits = False


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
