"""A program without one of its missions, its folder and its spider, does everything else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawlers.mission import missions
from tests.support.sites.server import Web, links, pages

ROOT = Path(__file__).parents[2]
# The parts of the laboratory of a mission are imported with it only.
IMPORT_EVERYTHING = """
import sys
from importlib import import_module
from pkgutil import walk_packages

import crawlers

for module in walk_packages(crawlers.__path__, "crawlers."):
    if not module.name.endswith("__main__"):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if not module.name.startswith("crawlers.lab.") or error.name != sys.argv[1]:
                raise
"""
CALL = """
import sys
from scrapy.cmdline import execute

execute(["scrapy", *sys.argv[1:]])
"""


@pytest.fixture(params=missions())
def without(request, tmp_path):
    """The name of a mission, and a function that runs Python in a copy of the project without it."""
    name = request.param
    shutil.copytree(ROOT / "crawlers", tmp_path / "crawlers", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "scrapy.cfg", tmp_path)
    shutil.rmtree(tmp_path / "crawlers" / "missions" / name)
    (tmp_path / "crawlers" / "spiders" / f"{name}.py").unlink()

    def run(program, *arguments):
        command = [sys.executable, "-P", "-c", program, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return name, run


def test_removed_mission_is_missed_by_no_other(without):
    name, run = without
    run(IMPORT_EVERYTHING, f"crawlers.missions.{name}")
    others = sorted({*missions()} - {name})
    assert run(CALL, "list").split() == others
    mission = "sitegraph" if name != "sitegraph" else "broad"
    with Web(site=pages({"/": links("/a"), "/a": ""})) as web:
        quick = ["-s", "ROBOTS_REST_SECONDS=0", "-s", "PAGE_BUDGET=2", "-s", "LOG_LEVEL=ERROR"]
        run(CALL, "crawl", mission, "-a", f"hosts={web.hosts()}", *quick)
    assert run(CALL, "report", "pages").count("http://") >= 2
    assert "2 pages" in run(CALL, "graph")
