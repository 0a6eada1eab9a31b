"""A vehicle as plain values, so that a saved run can be shown without the file of the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import Remedy
from ..urdf.description import (
    Description,
    Fact,
    JointLimits,
    MidAxle,
    Mimic,
    Reason,
    Released,
    Scrubbing,
    Skid,
    Witness,
)
from ..urdf.notice import Notice, NoticeKind
from ..urdf.tyre import restore_tyre
from ..urdf.wheel import Wheel
from .build import build
from .ground import Ground
from .parameters import Parameters
from .vehicle import Vehicle


def record(vehicle: Vehicle) -> dict:
    """JSON values from which `restore` rebuilds the vehicle; meshes are stored as paths."""
    values = asdict(vehicle.description)
    values["path"] = None if vehicle.description.path is None else str(vehicle.description.path)
    packages = vehicle.description.packages.items()
    values["packages"] = {name: str(folder) for name, folder in packages}
    parameters = {"values": vehicle.parameters.values, "symbolic": vehicle.parameters.symbolic}
    return {"description": values, "ground": asdict(vehicle.ground), "parameters": parameters,
            "wrench_bodies": vehicle.wrench_bodies}


def restore(values: dict) -> Vehicle:
    """The vehicle of a saved run."""
    d = dict(values["description"])
    d.update(wheels=tuple(_restore_wheel(**wheel) for wheel in d["wheels"]),
             path=None if d["path"] is None else Path(d["path"]),
             mimic=tuple(Mimic(**m) for m in d["mimic"]),
             limits={name: JointLimits(**limit) for name, limit in d["limits"].items()},
             packages={name: Path(folder) for name, folder in d["packages"].items()},
             speeds=None if d["speeds"] is None else tuple(d["speeds"]),
             reasons={name: _restore_reason(**reason) for name, reason in d["reasons"].items()},
             skid=None if d["skid"] is None else _restore_skid(**d["skid"]),
             notices=tuple(_restore_notice(**notice) for notice in d["notices"]))
    d["confined"] = True
    for key in ("rolling", "steering", "driven", "free"):
        d[key] = tuple(d[key])
    ground = Ground(**{k: tuple(v) for k, v in values["ground"].items()})
    parameters = Parameters(**values["parameters"]) if "parameters" in values else None
    return build(Description(**d), ground, parameters,
                 wrench_bodies=tuple(values.get("wrench_bodies", ())))


def _restore_wheel(**fields: Any) -> Wheel:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                              for name, value in fields.items()}
    if values.get("tyre") is not None:
        values["tyre"] = restore_tyre(values["tyre"])
    return Wheel(**values)


def _restore_skid(track: float | None = None, wheels: Sequence[str] = ()) -> Skid:
    if track is not None:
        return MidAxle(track)
    return Released(tuple(wheels)) if wheels else Scrubbing()


def _restore_reason(pattern: str, names: Sequence[str],
                    facts: Sequence[dict[str, Any]] = ()) -> Reason:
    return Reason(pattern, tuple(names), tuple(
        Fact(Witness(fact["witness"]), fact["agrees"], fact["radius"]) for fact in facts))


def _restore_notice(kind: str, text: str, remedy: dict[str, str] | None) -> Notice:
    return Notice(NoticeKind(kind), text, None if remedy is None else Remedy(**remedy))
