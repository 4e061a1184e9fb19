"""A program without one of its missions, its folder and its spider, does everything else, and so do its tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawlers.mission import missions
from tests.support.sites.server import Web, links, pages

ROOT = Path(__file__).parents[2]
FOLDERS = (".ci", "bench", "crawlers", "deploy", "docs", "examples", "spark", "tests")
# Tests of what the missions that are installed add to the core.
RELEVANT = (
    "tests/unit/ranking/test_page_orders.py",
    "tests/unit/reports/catalogue/test_report_rows.py::test_reports_that_make_no_sense_for_a_mission_are_not_listed",
)
# The parts of the laboratory of a mission are imported with it only.
IMPORT_EVERYTHING = """
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import crawlers

for module in walk_packages(crawlers.__path__, "crawlers."):
    if not module.name.endswith("__main__"):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if not module.name.startswith("crawlers.lab.") or error.name != sys.argv[1]:
                raise
for path in Path("tests").rglob("*.py"):
    import_module(".".join(path.with_suffix("").parts))
"""
TEST = """
import sys
import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
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
    for folder in FOLDERS:  # with bytecode, which takes long to make
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in filter(Path.is_file, ROOT.glob("[!.]*")):
        shutil.copy(file, tmp_path)
    (tmp_path / "crawlers" / "spiders" / f"{name}.py").unlink()
    for folder in [*tmp_path.rglob(f"missions/{name}")]:
        shutil.rmtree(folder)

    def run(program, *arguments):
        command = [sys.executable, "-P", "-c", program, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return name, run


def test_removed_mission_is_missed_by_no_other(without):
    name, run = without
    run(IMPORT_EVERYTHING, f"crawlers.missions.{name}")
    run(TEST, *RELEVANT)
    others = sorted({*missions()} - {name})
    assert run(CALL, "list").split() == others
    mission = "sitegraph" if name != "sitegraph" else "broad"
    with Web(site=pages({"/": links("/a"), "/a": ""})) as web:
        quick = ["-s", "ROBOTS_REST_SECONDS=0", "-s", "PAGE_BUDGET=2", "-s", "LOG_LEVEL=ERROR"]
        run(CALL, "crawl", mission, "-a", f"hosts={web.hosts()}", *quick)
    assert run(CALL, "report", "pages").count("http://") >= 2
    assert "2 pages" in run(CALL, "graph")
