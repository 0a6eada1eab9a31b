"""URDF texts of any size, with the options of `nhmech.load`."""

from __future__ import annotations


def _body(name: str, mass: float, size: float, place: str = "0 0 0") -> str:
    inertia = mass * size ** 2 / 6
    return (f'<link name="{name}"><inertial><origin xyz="{place}"/><mass value="{mass}"/>'
            f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" '
            'iyz="0"/></inertial></link>')


def _wheel(name: str, parent: str, x: float, y: float, radius: float = 0.1,
           driven: bool = False) -> tuple[str, str]:
    """The link with its joint, and the entry of the wheel."""
    link = (f'<link name="{name}_link"><inertial><mass value="0.7"/>'
            '<inertia ixx="0.002" iyy="0.0035" izz="0.002" ixy="0" ixz="0" '
            'iyz="0"/></inertial></link>'
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child '
            f'link="{name}_link"/>'
            f'<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/><limit effort="10" '
            'velocity="50"/></joint>')
    return (link,
            f'<wheel joint="{name}" kind="disc" radius="{radius}" driven="{str(driven).lower()}"/>')


def _robot(links: list[str], wheels: list[tuple[str, str]]) -> str:
    entries, all_links = "".join(entry for _,
                                 entry in wheels), "".join([*links, *(link for link, _ in wheels)])
    return f'<robot name="generated"><nhmech>{entries}</nhmech>{all_links}</robot>'


CASTER = '<wheel kind="caster_ball" link="base_link" point="0.25 0 -0.07" radius="0.03"/>'


def trailers(n: int) -> tuple[str, dict]:
    """A differential drive that pulls n trailers of one axle each, hitched at the axle in front."""
    links = [_body("base_link", 8.0, 0.4, "0.06 0 0.05")]
    wheels = [*_driven_axle(), ("", CASTER)]
    for i in range(1, n + 1):
        parent, x = (f"trailer_{i - 1}", -0.6) if i > 1 else ("base_link", 0)
        links += [_body(f"trailer_{i}", 4.0, 0.3, "-0.6 0 0.05"),
                  f'<joint name="hitch_{i}" type="continuous"><parent link="{parent}"/><child '
                  f'link="trailer_{i}"/>'
                  f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>']
        wheels += [_wheel(f"{side}_{i}", f"trailer_{i}", -0.6, y)
                   for side, y in (("left", 0.2), ("right", -0.2))]
    return _robot(links, wheels), {}


def wheels(n: int) -> tuple[str, dict]:
    """One axle with n wheels side by side, and a caster ball in front."""
    made = [_wheel(f"wheel_{i}", "base_link", 0, 0.06 * (i - (n - 1) / 2),
                   driven=i in (0, n - 1)) for i in range(n)]
    return _robot([_body("base_link", 8.0, 0.4, "0.06 0 0.05")], [*made, ("", CASTER)]), {}


def dead_joints(n: int) -> tuple[str, dict]:
    """A differential drive that carries an arm of n revolute joints, all locked at 0.2 rad."""
    links, parent = [_body("base_link", 8.0, 0.4, "0.06 0 0.05")], "base_link"
    for i in range(n):
        links += [_body(f"arm_{i}", 0.1, 0.05),
                  f'<joint name="joint_{i}" type="revolute"><parent link="{parent}"/><child '
                  f'link="arm_{i}"/>'
                  '<origin xyz="0 0 0.05" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>'
                  '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>']
        parent = f"arm_{i}"
    return _robot(links, [*_driven_axle(),
                          ("", CASTER)]), {"locked": {f"joint_{i}": 0.2 for i in range(n)}}


def _driven_axle() -> list[tuple[str, str]]:
    return [_wheel(side, "base_link", 0, y, driven=True)
            for side, y in (("left", 0.22), ("right", -0.22))]
