"""Commands that a page sends to the program that serves it."""

from __future__ import annotations

import json
import math
from collections import deque

Parts = tuple[float, float, float]

LONGEST = 1000                     # [bytes] of a message
ACTIONS = ("stop", "reset", "pause", "go on")
AT_REST: Parts = (0.0, 0.0, 0.0)


class PageCommands:
    """The latest commands of all open pages. The server's thread writes them, the loop's thread
    reads them; anything else is dropped.

    A message is JSON with one key: `parts`, three numbers in [-1, 1] (forward, left, turn to the
    left) of the limits; `action`, one of `ACTIONS`; or `choose`, the name of a controller.
    """

    def __init__(self) -> None:
        self._parts: deque[Parts] = deque(maxlen=1)
        self._actions: deque[tuple[str, str]] = deque(maxlen=64)

    def __repr__(self) -> str:
        return f"<PageCommands: {len(self._parts) + len(self._actions)} not taken yet>"

    def receive(self, message: str | bytes) -> None:
        """Takes in one message."""
        try:
            said = json.loads(message)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict) or len(said) != 1:
            return
        (kind, value), = said.items()
        if kind == "parts" and (parts := _read_parts(value)) is not None:
            self._parts.append(parts)
        elif (kind == "action" and value in ACTIONS) or (kind == "choose"
                                                         and isinstance(value, str)):
            self._actions.append((kind, value))

    def take_parts(self) -> Parts | None:
        """The newest parts of the limits since the last call; None if there are none."""
        return self._parts.pop() if self._parts else None

    def take_action(self) -> tuple[str, str] | None:
        """The oldest ("action", word) or ("choose", name) that has not been taken."""
        return self._actions.popleft() if self._actions else None


def _read_parts(value: object) -> Parts | None:
    if not (isinstance(value, list) and len(value) == 3
            and all(type(part) in (int, float) and math.isfinite(part) for part in value)):
        return None
    forward, left, turn = (float(min(max(part, -1.0), 1.0)) for part in value)
    return forward, left, turn
