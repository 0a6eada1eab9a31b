"""The public names: what their docstrings say is there, and their examples run."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import nhmech
from nhmech.lazy import LazyPackage

PACKAGES = [nhmech, *(value for value in map(nhmech.__getattr__, nhmech.homes)
                      if isinstance(value, LazyPackage))]
PUBLIC = {f"{package.__name__}.{name}": value
          for package in PACKAGES for name, value in
          ((name, getattr(package, name)) for name in package.__all__)
          if inspect.isclass(value) or inspect.isfunction(value)}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
CLASSES = [name for name, value in PUBLIC.items()
           if inspect.isclass(value) and value.__init__ is not object.__init__
           and not issubclass(value, Exception) and not hasattr(value, "__members__")
           and not getattr(value, "_is_protocol", False)]


def entries(value, *titles: str) -> list[str]:
    """Names in sections of a docstring, in their order."""
    doc, found = inspect.getdoc(value), []
    for title in titles:
        section = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n---|\Z)", doc, re.M | re.S)
        lines = re.findall(r"^(\S.*)$", section.group(1), re.M) if section else []
        found += [name.strip(" *").split("(")[0] for line in lines for name in line.split(",")]
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_begins_with_one_line_that_says_what_it_is(name):
    line, _, rest = (inspect.getdoc(PUBLIC[name]) or "").partition("\n")
    assert line.endswith(".") and (not rest or rest.startswith("\n"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_parameters_of_a_function_are_those_it_has(name):
    value = PUBLIC[name]
    assert entries(value, "Parameters") == list(inspect.signature(value).parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_the_parameters_of_a_class_are_described(name):
    value = PUBLIC[name]
    described = set(entries(value, "Parameters", "Attributes"))
    assert described >= set(inspect.signature(value).parameters)


def test_the_reference_lists_every_public_name():
    """In docs/api, under the heading of its task."""
    pages = (Path(__file__).parents[1] / "docs" / "api").glob("*.rst")
    listed = set(re.findall(r"\w+", " ".join(page.read_text() for page in pages)))
    assert not {name.rpartition(".")[2] for name in PUBLIC} - listed


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples start from: the public names, and `vehicle`, the differential drive."""
    folder = tmp_path_factory.mktemp("examples")
    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
    return {name: getattr(nhmech, name) for name in nhmech.__all__} | {
        "nhmech": nhmech, "vehicle": vehicle, "tmp_path": folder}


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_name_runs(name, names):
    value = PUBLIC[name]
    has_example = "\nExamples\n---" in inspect.getdoc(value)
    assert has_example or name.count(".") > 1, "names of nhmech have an example"
    home = importlib.import_module(value.__module__)
    globs = names | {value.__name__: value, "__name__": home.__name__}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    finder = doctest.DocTestFinder(recurse=False)
    said = []
    for test in finder.find(value, value.__name__, module=home, globs=globs):
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
