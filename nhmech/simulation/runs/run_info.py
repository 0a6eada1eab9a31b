"""What is the same for all runs of a simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...urdf.notice import Notice
from ..simulated import Simulated
from .layouts import RowLayout
from .limit_spans import LimitColumns, span_events

NOTICES = "notices"     # where they stand in the settings


@dataclass(frozen=True, eq=False)
class RunInfo:
    """What is the same for all runs of a simulator."""

    simulated: Simulated
    layout: RowLayout  # of the recorded rows
    kinematic: bool  # whether speeds are commanded rather than efforts
    settings: dict[str, Any]  # as in `Trajectory.settings`
    events: tuple[str, ...]  # names of the watched events

    def __repr__(self) -> str:
        return (f"<RunInfo of {self.simulated.name}, "
                f"{'kinematic' if self.kinematic else 'dynamic'}>")

    @cached_property
    def limit_columns(self) -> LimitColumns:
        """What of a row has limits."""
        return LimitColumns.of(self.simulated, self.layout.names)

    def about(self, stop: str, events: Sequence[tuple[float, str]], notices: Sequence[Notice],
              blocks: Iterable[Mapping[str, np.ndarray]]) -> dict[str, Any]:
        """What a `Trajectory` has beside its arrays, which are looked at block by block."""
        noted = {NOTICES: [notice.as_dict() for notice in notices]} if notices else {}
        spans, end = self.limit_columns.spans(blocks)
        if spans:
            events = [*events, *span_events(self.simulated, spans, end)]
        return {"stop": stop, "names": dict(self.layout.names), "events": tuple(sorted(events)),
                "source": self.simulated.source, "system": self.simulated,
                "kinematic": self.kinematic, "settings": self.settings | noted}

    def header(self) -> dict[str, Any]:
        """For the file that the rows are written to."""
        return {
            "names": self.layout.names,
            "speeds": self.layout.speeds.tolist(),
            "events": self.events,
            "widths": self.layout.widths,
            "source": self.simulated.source,
            "kinematic": self.kinematic,
            "settings": self.settings,
        }
