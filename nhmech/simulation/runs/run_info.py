"""The information that all runs of a simulator share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...once import cached_property
from ...urdf.notice import Notice
from ..simulated import Simulated
from .layouts import RowLayout
from .limit_spans import LimitColumns, span_events

NOTICES = "notices"     # key of the notices in the settings


@dataclass(frozen=True, eq=False)
class RunInfo:
    """The information that all runs of a simulator share."""

    simulated: Simulated
    layout: RowLayout  # layout of the recorded rows
    kinematic: bool  # whether speeds are commanded rather than efforts
    settings: dict[str, Any]  # as in `Trajectory.settings`
    events: tuple[str, ...]  # names of the watched events

    def __repr__(self) -> str:
        return (f"<RunInfo of {self.simulated.name}, "
                f"{'kinematic' if self.kinematic else 'dynamic'}>")

    @cached_property
    def limit_columns(self) -> LimitColumns:
        """The columns of a row that have limits."""
        return LimitColumns.of(self.simulated, self.layout.names)

    def about(self, stop: str, events: Sequence[tuple[float, str]], notices: Sequence[Notice],
              blocks: Iterable[Mapping[str, np.ndarray]]) -> dict[str, Any]:
        """The fields of a `Trajectory` other than its arrays, which are read block by block."""
        noted = {NOTICES: [notice.as_dict() for notice in notices]} if notices else {}
        spans, end = self.limit_columns.spans(blocks)
        if spans:
            events = [*events, *span_events(self.simulated, spans, end)]
        return {"stop": stop, "names": dict(self.layout.names), "events": tuple(sorted(events)),
                "source": self.simulated.source, "system": self.simulated,
                "kinematic": self.kinematic, "settings": self.settings | noted}

    def header(self) -> dict[str, Any]:
        """The header of the file that receives the rows."""
        return {
            "names": self.layout.names,
            "speeds": self.layout.speeds.tolist(),
            "events": self.events,
            "widths": self.layout.widths,
            "source": self.simulated.source,
            "kinematic": self.kinematic,
            "settings": self.settings,
        }
