"""A run file that somebody else made: which files of this machine it makes the package read."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import shipped

import nhmech
from nhmech import Simulator, Trajectory
from nhmech.vehicle.geometry import find_mesh_file

STL = ("solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0.1 0 0\nvertex 0 0.1 0\n"
       "endloop\nendfacet\nendsolid s\n")
VISUAL = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in ("bot/meshes/own.stl", "other/meshes/shared.stl", "secret/plan.stl"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(STL)
    (tmp_path / "bot/package.xml").write_text("<package/>")
    (tmp_path / "bot/urdf").mkdir()
    return tmp_path


def restored(places: Path, mesh: str) -> nhmech.Vehicle:
    """A cart with this mesh, out of a run file."""
    drive = shipped("differential_drive").description
    urdf = places / "bot/urdf/cart.urdf"
    urdf.write_text(drive.xml.replace('<link name="base_link">',
                                      '<link name="base_link">' + VISUAL.format(mesh), 1))
    vehicle = nhmech.load(urdf, wheels=drive.wheels, packages={"other": places / "other"})
    assert find_mesh_file(mesh, vehicle.description) is not None, "the file of a user names any"
    Simulator(vehicle).run(0.01, save=places / "run.npz")
    found = Trajectory.load(places / "run.npz").simulated.vehicle
    return found


@pytest.mark.parametrize("mesh", ["../meshes/own.stl", "package://other/meshes/shared.stl",
                                  "package://bot/meshes/own.stl", "file://{}/bot/meshes/own.stl"])
def test_meshes_of_its_packages_are_read(places, mesh):
    mesh = mesh.format(places)
    assert find_mesh_file(mesh, restored(places, mesh).description) is not None


@pytest.mark.parametrize("mesh", ["../../secret/plan.stl", "package://other/../secret/plan.stl",
                                  "file://{}/secret/plan.stl", "{}/secret/plan.stl"])
def test_no_others_are(places, mesh):
    mesh = mesh.format(places)
    vehicle = restored(places, mesh)
    assert find_mesh_file(mesh, vehicle.description) is None
    page = nhmech.save_html(vehicle, Simulator(vehicle).run(0.01), places / "page.html")
    assert page.exists()
