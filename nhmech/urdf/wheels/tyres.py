"""Tyres that somebody gives to the wheels of a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...checks import read_word
from ...errors import InputError, listed
from ..description import FoundWheel
from ..tyre import Tyre

TyresArgument: TypeAlias = "Tyre | str | Mapping[str, Tyre | str] | None"


def put_tyres(contacts: Sequence[FoundWheel], tyres: TyresArgument) -> list[FoundWheel]:
    """The contacts with the tyres: one for every wheel that can have it, or those named."""
    if tyres is None:
        return list(contacts)
    names = [c.wheel.name for c in contacts]
    if not isinstance(tyres, Mapping):
        able = [c.wheel.name for c in contacts if c.wheel.traits.grips]
        if not able:
            raise InputError(f"tyres: none of {listed(names)} can have a tyre: they are "
                             f"{listed(dict.fromkeys(c.wheel.kind for c in contacts))}")
        tyres = dict.fromkeys(able, tyres)
    for name in tyres:
        read_word("tyres: wheel", name, names)
    return [replace(c, wheel=replace(c.wheel, law="tyre", tyre=tyres[c.wheel.name]))
            if c.wheel.name in tyres else c for c in contacts]
