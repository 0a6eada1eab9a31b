"""The programs that a benchmark compares, as many as can be imported here."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from types import ModuleType


def find_programs(package: str,
                  modules: Mapping[str, str]) -> tuple[dict[str, ModuleType], list[str]]:
    """Modules of a package by the names of their programs, and a line for each that lacks what it
    imports. What the programs would warn of from then on is not shown."""
    found, missing = {}, []
    for name, module in modules.items():
        try:
            found[name] = importlib.import_module(f"{package}.{module}")
        except ImportError as problem:
            missing.append(f"{name} is left out: {problem}")
    logging.disable(logging.WARNING)
    return found, missing
