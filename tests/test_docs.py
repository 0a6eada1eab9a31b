"""The documentation builds without a warning and needs no network, its Python and its commands run
as typed, and the gallery says what the vehicles are."""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from browser import needs_chromium
from support import command_line, sampled

import nhmech
from nhmech.view.browser import Browser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINKED = "notation.md", "references.md", "changes.md"      # to pages in the repository's folder
PAGES = sorted(page for folder in (DOCS, DOCS / "theory") for page in folder.glob("*.md")
               if page.name not in LINKED)
HOWTO = sorted((DOCS / "howto").glob("*.md"))
NEEDS = {"gym": ["gymnasium"], "differentiable": ["torch"],
         "limits": ["matplotlib"], "many": ["joblib", "pandas"],
         "notebook": ["matplotlib"], "plots": ["matplotlib"], "odometry": ["rosbags", "matplotlib"],
         "runs": ["rosbags", "pyarrow"], "identification": ["rosbags"],
         "slip": ["matplotlib"]}
# what opens a browser, or draws every frame with one
DRAWN = "--view", "--gif", "--webp", "--mp4"


@pytest.fixture(autouse=True)
def shared_vehicles(built_once):
    with built_once():
        yield


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.M | re.S)


def module_of_docs(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gallery():
    return module_of_docs("vehicles")


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(DOCS)))
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    """Each block stands alone, in an empty folder; what it states is in its own assertions."""
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), {})


def commands(page: Path) -> list[str]:
    return [line for block in blocks(page, "sh") for line in typed_in(block)]


def typed_in(block: str) -> list[str]:
    lines = block.replace("\\\n", " ").splitlines()
    return [line.split("#")[0].strip() for line in lines if line.startswith("nhmech ")]


def is_endless(line: str) -> bool:
    """Whether somebody must end it."""
    return line.startswith("nhmech drive ") and "--duration" not in line


def parse(line: str) -> None:
    from nhmech.cli import main

    _, name, *words = shlex.split(line)
    command = main.get_command(None, name)
    assert command is not None, f"no command {name!r}"
    command.make_context(name, words)


@pytest.mark.parametrize("page", HOWTO, ids=lambda page: page.stem)
def test_a_how_to_page_runs(page, tmp_path, monkeypatch):
    """From top to bottom in one folder: its commands leave the files that its Python reads. Python
    under a file's name is that file. Its pictures are there."""


    for module in NEEDS.get(page.stem, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    for language, code in re.findall(r"^```(python|sh)\n(.*?)^```$", page.read_text(), re.M | re.S):
        named = re.match(r"# (\w+\.py)\n", code)
        if language == "python" and named:
            (tmp_path / named[1]).write_text(code)
        elif language == "python":
            exec(compile(code, str(page), "exec"), {})
        for line in typed_in(code) if language == "sh" else ():
            if any(word in line for word in DRAWN) or is_endless(line):
                parse(line)
                continue
            done = command_line(*shlex.split(line)[1:])
            assert done.exit_code == 0, f"{line}\n{done.output}"
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text()):
        assert 5000 < (page.parent / picture).stat().st_size < 250_000, (
            f"{picture}: python docs/pictures.py howto"
        )


def test_commands_of_the_tutorial_run(tmp_path, monkeypatch):
    """One after the other in one folder, as somebody would type them; section 5 prints the module
    it needs."""


    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_controllers", raising=False)   # that of another test
    page = DOCS / "tutorial.md"
    (tmp_path / "my_controllers.py").write_text(
        next(code for code in blocks(page, "python") if "def circle" in code)
    )
    typed = commands(page)
    assert len(typed) >= 7
    for line in typed:
        done = command_line(*shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"
    for file in ("run.html", "run.npz", "figure8.svg", "figure8.csv", "figure8.html", "circle.npz"):
        assert (tmp_path / file).stat().st_size > 1000, file
    run = nhmech.Trajectory.load(tmp_path / "circle.npz")
    assert run.column("left_wheel_joint.velocity")[-1] == pytest.approx(4.0, rel=1e-3)
    assert run.t[-1] == pytest.approx(5.0, rel=1e-9)


@pytest.mark.parametrize("page", ["controllers.md", "tutorial.md"])
def test_what_commands_print_is_in_the_page(page):
    text = (DOCS / page).read_text()
    assert "<!-- output: " in text
    assert module_of_docs("command_output").fill(text) == text, (
        f"docs/{page} is out of date; this command updates it: python docs/command_output.py")


def test_pages_are_read_without_a_build():
    """On a Git host nothing is included: no page is a raw directive, and links lead to files."""
    for page in DOCS.rglob("*.md"):
        text = page.read_text()
        assert "```{" not in text, page
        for target in re.findall(r"\]\(([^)#:\s]+\.(?:md|ipynb|py|rst))\b", text):
            assert (page.parent / target).is_file(), f"{page.relative_to(ROOT)}: {target}"


GALLERY = sorted((DOCS / "gallery").glob("*.md"))
OTHERS = [page for page in (*PAGES, *GALLERY) if page.name != "tutorial.md" and commands(page)]


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_of_other_pages_parse(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        parse(line)


def test_every_shipped_vehicle_is_in_the_gallery():
    module = gallery()
    assert set(module.NAMES) == set(nhmech.urdf_names())
    assert (DOCS / "gallery.md").read_text() == module.index()
    for name in module.NAMES:
        assert 10_000 < (DOCS / "gallery" / "images" / f"{name}.webp").stat().st_size < 250_000


DECIMAL = re.compile(r"-?\b\d+\.\d+(?:e[+-]?\d+)?")


def last_digit(printed: str) -> Decimal:
    """One unit in the last place of a number that is printed: what rounding on another machine may
    change."""
    return Decimal((0, (1,), Decimal(printed).as_tuple().exponent))


@pytest.mark.parametrize("name", nhmech.urdf_names())
def test_gallery_pages_are_up_to_date(name):
    written, derived = (DOCS / "gallery" / f"{name}.md").read_text(), gallery().page(name)
    assert DECIMAL.sub("#", written) == DECIMAL.sub("#", derived), (
        f"docs/gallery/{name}.md is out of date; this command updates it: python docs/vehicles.py")
    for printed, now in zip(DECIMAL.findall(written), DECIMAL.findall(derived)):
        assert abs(Decimal(printed) - Decimal(now)) <= last_digit(printed)


def inputs_of_the_pages() -> str:
    """A hash of all that the pages are made from, and of the versions of what makes them."""
    digest = hashlib.sha256(sys.version.encode())
    for package in ("sphinx", "furo", "myst-parser", "sphinx-mathjax-offline", "docutils"):
        digest.update(f"{package} {importlib.metadata.version(package)}".encode())
    folders = [ROOT / name for name in ("docs", "nhmech", "urdf", "examples")]
    for file in sorted([*ROOT.glob("*.*"), *(f for folder in folders for f in folder.rglob("*"))]):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(ROOT)} ".encode() + file.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="session")
def built(make_once, kept_between_runs) -> Path:
    """The pages; those of an earlier run of the tests where nothing has changed since."""
    for module, name in (("sphinx", "sphinx"), ("furo", "furo"), ("myst_parser", "myst-parser"),
                         ("sphinx-mathjax-offline", "sphinx-mathjax-offline")):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the documentation needs {name}: pip install '.[docs]' in the project's "
                        "folder")

    def build(folder: Path) -> None:
        pages = (shelf := kept_between_runs("docs")) / inputs_of_the_pages()
        if not (pages / "whole").exists():
            shutil.rmtree(shelf, ignore_errors=True)
            command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
                       str(DOCS), str(pages)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "PYTHONPATH": str(ROOT)})
            assert done.returncode == 0, done.stderr
            (pages / "whole").touch()
        folder.symlink_to(pages)

    return make_once("docs", build)


def test_builds_without_a_warning(built):
    front = (built / "index.html").read_text()
    assert ("tutorial.html" in front and "theory/index.html" in front
            and "howto/viewing.html" in front)
    # docstrings are there
    assert "Phi dv/dt = [dxi/dt; -gamma]" in (built / "api" / "mechanics.html").read_text()
    for page in (built / "wheels.html", *(built / "howto").glob("*.html"),
                 *(built / "gallery").glob("*.html")):
        for image in re.findall(r'<img[^>]*src="([^":]+)"', page.read_text()):
            assert (page.parent / image).is_file(), f"{page.name}: {image}"


@pytest.mark.parametrize("name", nhmech.urdf_names())
def test_the_gallery_leads_to_a_page_that_drives(built, name):
    """Made with the documentation, beside the page of the vehicle."""
    gallery = built / "gallery"
    (address,) = set(re.findall(r'href="(drive/[^"]*)"', (gallery / f"{name}.html").read_text()))
    assert "openWritten" in (gallery / address).read_text(encoding="utf-8")


def test_the_reference_has_every_public_name(built):
    from test_api import PUBLIC

    text = "".join(page.read_text() for page in (built / "api").glob("*.html"))
    shown = {id(value) for name, value in PUBLIC.items() if f'id="{name}"' in text}
    missing = [name for name, value in PUBLIC.items() if id(value) not in shown]
    assert not missing, f"docs/api: {missing}"
    assert "nhmech.simulation.atlas" not in text


LOADED = (r'<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc="([^"]*)"',
          r'<link\b[^>]*?\bhref="([^"]*)"',
          r'<(?:image|use)\b[^>]*?\bhref="([^"]*)"', r'\bsrcset="([^"]*)"',
          r'\burl\(\s*["\']?([^"\')]*)', r'@import\s+["\']([^"\']*)')


def loaded(text: str) -> list[str]:
    """What a browser fetches by itself to show this HTML, SVG or CSS; where a link leads is another
    matter."""
    return [address for pattern in LOADED for address in re.findall(pattern, text)]


def test_what_counts_as_loaded():
    """Of the test below: it sees what it forbids, and nothing else."""
    text = """<script defer src="//a.org/x.js"></script><link rel="icon" href="//b.org/i.png">
              <a href="//c.org">c</a><img alt="" src="here.png">
              <style>@import "//d.org/s.css"; b { background: url(//e.org/f.png) }</style>"""
    assert loaded(text) == ["//a.org/x.js", "here.png", "//b.org/i.png", "//e.org/f.png",
                            "//d.org/s.css"]


def test_pages_load_nothing_from_the_network(built):
    files = [file for kind in ("html", "css", "svg") for file in built.rglob(f"*.{kind}")]
    addresses = {(file.name, address) for file in files for address in loaded(file.read_text())}
    assert len(files) > 50 and ("index.html", "_images/demo.webp") in addresses
    assert not [address for address in addresses if re.match(r"(https?:)?//", address[1])]


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("page", sampled(["gibbs_appell", "hamel", "integration", "rolling"], 2))
def test_no_formula_is_wider_than_a_telephone(built, page):
    """Those in lines shrink, and those between them too, which scroll where half their size is
    still too wide; those in a table scroll with it."""
    with Browser((built / "theory" / f"{page}.html").as_uri(), (390, 844)) as browser:
        number = "document.querySelectorAll('%s').length".__mod__
        browser.wait_for("document.readyState == 'complete'")
        browser.wait_for(f"{number('.math')} == {number('.math > mjx-container > svg')}")
        out = browser.evaluate("""[...document.querySelectorAll(
            'mjx-container:not([display=true], .table-wrapper *)')]
            .map(e => e.getBoundingClientRect().right)
            .filter(right => right > innerWidth + 1).length""")
        assert out == 0 and browser.evaluate("document.documentElement.scrollWidth") <= 390
        browser.wait_for("[...document.querySelectorAll('mjx-container[display=true]')]"
                         ".some(e => parseFloat(e.style.fontSize) < 100)")
        assert browser.evaluate("""[...document.querySelectorAll('div.math')].filter(
            e => e.scrollWidth > e.clientWidth && !(getComputedStyle(e).overflowX === 'auto'
                && e.firstElementChild.style.fontSize === '50%')).length""") == 0


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "theory"
                                  and page.stem not in ("index", "papers")],
                         ids=lambda page: page.stem)
def test_displays_have_the_numbers_of_their_page(page):
    text = page.read_text()
    chapter = re.match(r"# (\d+)\. ", text)[1]
    displays = re.findall(r"^\$\$\n(.*?)\n\$\$$", text, re.M | re.S)
    assert len(displays) == text.count("\n$$\n") // 2 > 0
    assert [re.findall(r"\\tag\{(.*?)\}", shown) for shown in displays] == [
        [f"{chapter}.{k}"] for k in range(1, len(displays) + 1)]


def test_contents_are_made_from_what_a_page_lists():
    add_contents = module_of_docs("contents").add_contents
    index = add_contents("index", (DOCS / "index.md").read_text())
    captions = re.findall(r":caption: (.*)", index)
    assert captions == re.findall(r"^## (.*)", index, re.M) and len(captions) == 4
    listed = re.findall(r"^[\w/-]+$", index.partition("```{toctree}")[2], re.M)
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    assert len(listed) == len(set(listed)) and "howto/drive" in listed
    assert not [page for page in pages if page.startswith("howto/") and page not in listed]
    gallery_pages = add_contents("gallery", (DOCS / "gallery.md").read_text())
    assert all(f"\ngallery/{name}\n" in gallery_pages for name in nhmech.urdf_names())
    assert add_contents("faq", "text") == "text"


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("page, formulas", [("theory/rolling.html", 50), ("wheels.html", 20)])
def test_formulas_are_drawn_without_a_network(built, page, formulas):
    """Every formula becomes a picture, without an error in its TeX; scripts, also those MathJax
    adds, are files."""
    with Browser((built / page).as_uri(), (1000, 800)) as browser:
        number = "document.querySelectorAll('%s').length".__mod__
        browser.wait_for("document.readyState == 'complete'")
        browser.wait_for(f"{number('.math')} == {number('.math > mjx-container > svg')}")
        assert browser.evaluate(number("mjx-container > svg")) >= formulas
        assert browser.evaluate(number("[data-mjx-error]")) == 0
        scripts = browser.evaluate(
            "[...document.scripts].map(script => script.src).filter(Boolean)"
        )
    assert any("tex-svg" in script for script in scripts)
    assert all(script.startswith("file:") for script in scripts), scripts
