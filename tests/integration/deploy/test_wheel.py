"""The wheel has everything that the program needs, and the program runs in any folder."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import zipfile
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import networkx
import pytest

from crawlers import __version__
from tests.support.of_missions import needs
from tests.support.scrapyd_nodes import ROOT, Project
from tests.support.services import unavailable
from tests.support.sites.server import Web, links, pages

pytestmark = needs("sitegraph")

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN = "[settings]\ndefault = nowhere.settings\n[deploy]\nproject = mine\n"


class Installed(NamedTuple):
    wheel: Path
    program: Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A wheel, and the program in a virtual environment that has the requirements of this one."""
    if tuple(map(int, version("setuptools").split(".")[:2])) < (70, 1):
        unavailable("setuptools is too old to build a wheel; pip install -r requirements-dev.txt")
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "project").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    project = Project(folder / "project", environment)
    offline = ("--quiet", "--no-deps", "--no-index")
    project.run("-m", "pip", "wheel", *offline, "--no-build-isolation", "-w", str(folder), ".")
    (wheel,) = folder.glob("*.whl")
    project.run("-m", "venv", "--without-pip", str(folder / "venv"))
    python = folder / "venv/bin/python"
    project.run("-m", "pip", "--python", str(python), "install", *offline, str(wheel))
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    here = sysconfig.get_path("purelib")
    (packages / "requirements.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    return Installed(wheel, python.with_name("crawlers"))


@pytest.fixture
def run(installed, tmp_path):
    """Run the installed program in a folder that has a scrapy.cfg of another project."""
    (tmp_path / "scrapy.cfg").write_text(FOREIGN)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "SCRAPY"))}

    how = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": 60}
    return lambda *arguments: subprocess.run([installed.program, *arguments], check=False, **how)


def test_wheel_has_every_file_of_the_package(installed):
    listed = subprocess.run(["git", "ls-files", "crawlers"], cwd=ROOT, check=True, capture_output=True, text=True)
    with zipfile.ZipFile(installed.wheel) as wheel:
        assert set(listed.stdout.split()) <= set(wheel.namelist())


def test_program_crawls_and_reads_the_results_in_any_folder(run, tmp_path):
    bodies = {"/": links("/a", "http://other.example/"), "/a": "<p>a"}
    with Web(one=pages(bodies), two=pages(bodies)) as web:
        hosts = [one.origin for one in web.sites.values()]
        crawled = run("sitegraph", *hosts, "-s", "SITE_DELAY_SECONDS=0", "-s", "LOG_LEVEL=WARNING")
    assert crawled.returncode == 0, crawled.stderr
    for origin in hosts:
        graph = networkx.read_gexf(tmp_path / "result" / f"{origin.removeprefix('http://').replace(':', '_')}.gexf")
        assert graph.number_of_nodes() == 2
    explained = run("explain", f"{hosts[0]}/a")
    assert "page, since" in explained.stdout, explained.stderr
    assert run("graph", "--format", "csv").returncode == 0
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith("crawl.sqlite")}
    assert names == {"logs", "result", "scrapy.cfg"}


def test_program_says_its_version_and_its_mistakes(run, tmp_path):
    assert run("--version").stdout.startswith(f"crawlers {__version__} (Scrapy ")
    wrong = run("sitegraph", "nowhere.txt")
    assert wrong.returncode == 2
    assert "Error: hosts=nowhere.txt: there is no such file" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scrapy.cfg"]
