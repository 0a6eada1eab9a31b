"""Numbers in attributes of a URDF, read with an error that says where and what."""

from __future__ import annotations

from math import isfinite

from .source import Source

_REQUIRED = object()
_LARGEST = 1e12  # SI units; a larger length, mass or inertia is a typing error, and products of such numbers overflow
_UNBOUNDED = ("lower", "upper", "effort", "velocity")  # often given as 1e16 to mean "none"


def number(source: Source, element, attribute: str, default=_REQUIRED) -> float:
    """One finite number.

    Raises `ModelError` where the attribute is missing without a default, is no number, NaN or infinite.
    """
    text = element.get(attribute)
    if text is None:
        if default is _REQUIRED:
            raise source.error(element, f"attribute {attribute}= is missing; give it a number")
        return default
    values = _floats(source, element, attribute, text)
    if len(values) != 1:
        raise source.error(element, f"{attribute}={text!r} must be one number")
    return values[0]


def vector(source: Source, element, attribute: str, length: int, default=_REQUIRED) -> tuple[float, ...]:
    """`length` finite numbers separated by spaces. Raises `ModelError` as `number` does."""
    text = element.get(attribute)
    if text is None:
        if default is _REQUIRED:
            raise source.error(element, f"attribute {attribute}= is missing; "
                                        f"give it {length} numbers separated by spaces")
        return default
    values = _floats(source, element, attribute, text)
    if len(values) != length:
        raise source.error(element, f"{attribute}={text!r} has {len(values)} numbers; "
                                    f"it needs {length}, separated by spaces")
    return tuple(values)


def _floats(source: Source, element, attribute: str, text: str) -> list[float]:
    values = []
    for word in text.split():
        if "_" in word or not word.isascii():
            raise source.error(element, f"{attribute}={text!r}: {word!r} is not a number")
        try:
            values.append(float(word))
        except ValueError:
            comma = "; write decimals with a point and separate numbers by spaces" if "," in word else ""
            raise source.error(element, f"{attribute}={text!r}: {word!r} is not a number{comma}") from None
        if not isfinite(values[-1]):
            raise source.error(element, f"{attribute}={text!r} is not finite; replace it by the true value")
        if abs(values[-1]) > _LARGEST and attribute not in _UNBOUNDED:
            raise source.error(element, f"{attribute}={text!r} is larger than {_LARGEST:g}, which no robot needs; "
                                        "replace it by the true value")
    return values
