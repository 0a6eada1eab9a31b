"""Nodes without a ROS installation: the message types of rosbags, and the loop in real time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ..ctrl_c import forget_ctrl_c
from ..errors import InputError, NhmechError
from ..simulation.pacing import keep_pace
from .node import Node, Outgoing
from .settings import Settings, parameters


class Transport(Protocol):
    """What carries the messages of a node."""

    def receive(self, node: Node, now: float) -> None:
        """Hands the node what came in until now [s]."""

    def send(self, messages: Outgoing, now: float) -> None:
        """Sends messages."""

    def close(self) -> None:
        """Ends it."""


def load_types(extra: str) -> Any:
    """The message types of ROS 2 Jazzy, as rosbags has them."""
    try:
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise missing(extra) from error
    return get_typestore(Stores.ROS2_JAZZY)


def missing(extra: str) -> NhmechError:
    """The error that the packages of an extra are not installed."""
    return NhmechError(f"this needs the extra {extra!r}: pip install 'nhmech[{extra}]'")


def read_settings(given: Sequence[tuple[str, str]], **more: Any) -> Settings:
    """Parameters as words of the command line, NAME and VALUE; `more` are used if they are not
    given. Raises `InputError` for those that do not exist or cannot be taken."""
    known = parameters()
    return Settings.read({**more, **{name: _read_word(word, known.get(name))
                                     for name, word in given}})


def _read_word(word: str, default: object) -> object:
    """A word as a value of the default's type; as it is where it is none, to be refused by name."""
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}.get(word.lower(), word)
        if isinstance(default, tuple):
            return [float(part) for part in word.replace(",", " ").split()]
        return float(word) if isinstance(default, float) else word
    except ValueError:
        return word


def run(node: Node, transport: Transport, is_done: Callable[[], bool] = lambda: False) -> None:
    """Runs a node in real time until Ctrl-C."""
    # wall time as it is at the start, and no clock that somebody sets meanwhile
    ahead = time.time() - time.monotonic()

    def tick() -> None:
        now = time.monotonic() + ahead
        transport.receive(node, now)
        transport.send(node.tick(now), now)

    try:
        keep_pace(node.settings.publish_rate, is_done, tick)
    except KeyboardInterrupt:
        forget_ctrl_c()
    finally:
        transport.close()


def absolute(topic: str, namespace: str = "") -> str:
    """A topic's name with the slash that it begins with, in a namespace such as "/left" where it
    is not in the root."""
    return topic if topic.startswith("/") else f"{namespace}/{topic}"


def read_namespace(word: str) -> str:
    """A namespace with the slash that it begins with; empty if the word is."""
    inside = word.strip("/")
    if inside and not re.fullmatch(r"[a-z_]\w*(/[a-z_]\w*)*", inside, re.ASCII | re.IGNORECASE):
        raise InputError(f"namespace {word!r} must be letters, digits and _, with no digit first, "
                         "and / between parts, such as fleet/left")
    return f"/{inside}" if inside else ""


def list_outputs(settings: Settings, topics: Iterable[str]) -> str:
    """What is sent, in one line."""
    return (f"{', '.join(sorted(topics))}; "
            f"{settings.publish_rate:g} times a second; Ctrl-C ends it")
