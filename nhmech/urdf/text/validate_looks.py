"""Checks of visual and collision elements: shapes, materials, colours."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import FEW, listed
from ..notice import Notice, NoticeKind
from .fault import Element, ElementError, Mend, collect_errors, deletion, element_name, setting
from .source import Source
from .validate_joint import check_origin

# shape -> its attributes that are one length [m]
_SHAPES = {"box": (), "sphere": ("radius",), "cylinder": ("radius", "length"),
           "capsule": ("radius", "length"), "mesh": ()}


def check_shape(source: Source, element: Element) -> Iterator[ElementError]:
    """A shape that can be drawn; others are left out, as no motion depends on them."""
    out = Mend("shapes that cannot be drawn are ignored", deletion(element))
    for origin in element.findall("origin"):
        for error in collect_errors(check_origin, source, origin):
            yield source.error(origin, error.fault.text, mend=error.mend or out)
    geometry = element.find("geometry")
    shapes = [] if geometry is None else geometry.findall("*")
    if not shapes or shapes[0].tag not in _SHAPES:
        found = element_name(shapes[0]) if shapes else "nothing"
        yield source.error(element, f"<geometry> holds {found}; it needs one of {listed(_SHAPES)}",
                           mend=out)
        return
    shape = shapes[0]
    try:
        _check_size(source, shape)
    except ElementError as error:
        yield source.error(shape, error.fault.text, mend=error.mend or out)


def _check_size(source: Source, shape: Element) -> None:
    if shape.tag == "mesh":
        if not shape.get("filename"):
            raise source.error(shape, "filename= is missing; name the mesh")
        scale = shape.get("scale", "1 1 1")
        if len(words := scale.split()) == 4:
            # the parser would drop the whole link
            raise source.error(shape, f"scale={scale!r} has four numbers", mend=Mend(
                "a scale of four numbers: the first three are used",
                lambda: shape.set("scale", " ".join(words[:3]))))
        source.triple(shape, "scale", None)
    elif min(_sizes(source, shape)) < 0:
        raise source.error(shape, f"{min(_sizes(source, shape))} is a negative size; use a "
                                  "positive length in metres")


def _sizes(source: Source, shape: Element) -> tuple[float, ...]:
    if shape.tag == "box":
        return source.triple(shape, "size")
    return tuple(source.number(shape, attribute) for attribute in _SHAPES[shape.tag])


def check_materials(source: Source) -> Iterator[ElementError]:
    """Materials of the file and of its links, with their colours."""
    seen: dict[str, Element] = {}
    for material in source.root.findall("material"):
        out = Mend("unusable materials are ignored", deletion(material))
        name = material.get("name")
        if not name:
            yield source.error(material, 'a material needs a name: <material name="...">', mend=out)
        elif name in seen:
            yield source.error(material, f"the material {name!r} is defined on line "
                                         f"{seen[name].sourceline} already; delete one", mend=out)
        elif material.find("color") is None and material.find("texture") is None:
            yield source.error(material, 'has neither <color rgba="..."/> nor <texture>; give it '
                                         "one or delete it", mend=out)
        else:
            seen[name] = material
    for material in source.root.iterfind("link/visual/material"):
        if material.get("name") is None:
            yield source.error(material, "a material needs a name, or the whole link is dropped: "
                                         '<material name="...">',
                               mend=Mend("unusable materials are ignored",
                                         deletion(material)))
    for color in (*source.root.iterfind("material/color"),
                  *source.root.iterfind("link/visual/material/color")):
        for error in collect_errors(_check_color, source, color):
            yield source.error(color, error.fault.text, mend=error.mend or Mend(
                "an invalid colour is replaced by grey", setting(color, "rgba", "0.5 0.5 0.5 1")))


def _check_color(source: Source, color: Element) -> None:
    source.numbers(color, "rgba", 4)


def find_oddities(source: Source) -> list[Notice]:
    """Shapes that are ignored or have no size; one notice for each kind."""
    second, empty = [], []
    for element in (*source.root.iterfind("link/visual"), *source.root.iterfind("link/collision")):
        first, *more = element.findall("geometry/*")
        second += [source.at(other) for other in more[:1]]
        if first.tag != "mesh" and element.tag == "collision" and min(_sizes(source, first)) == 0:
            empty.append(source.at(first))
    kinds = ((NoticeKind.SECOND_SHAPE, second, "a second shape in one <geometry> is ignored"),
             (NoticeKind.EMPTY_SHAPE, empty, "a collision shape has size 0"))
    return [Notice(kind, f"{listed(places, FEW)}: {text}")
            for kind, places, text in kinds if places]
