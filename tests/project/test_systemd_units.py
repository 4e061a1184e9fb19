"""The units for systemd are those of docs/how-to/scrapyd.md, and its scripts are valid."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "deploy/systemd").iterdir())
PAGE = (ROOT / "docs/how-to/scrapyd.md").read_text("utf-8")


def unit(name):
    parser = configparser.ConfigParser(interpolation=None, strict=False)  # Environment= may be given twice
    parser.optionxform = str
    parser.read(ROOT / "deploy/systemd" / name)
    return parser


def test_services_run_the_programs_of_the_documentation():
    scrapyd = unit("crawlers-scrapyd.service")["Service"]
    assert scrapyd["WorkingDirectory"] == "%h/crawls/node"
    assert scrapyd["ExecStart"] == "%h/crawls/venv/bin/scrapyd --pidfile="
    assert "../venv/bin/scrapyd --pidfile=" in PAGE
    assert scrapyd["ExecStartPre"] == "%h/crawls/project/deploy/scrapyd/configure.sh"
    assert "../project/deploy/scrapyd/configure.sh" in PAGE
    assert unit("crawlers-nightly.service")["Service"]["ExecStart"] == "%h/crawls/node/nightly.sh"
    named = re.findall(r"crawlers-\w+\.(?:service|timer)", PAGE)
    assert set(named) <= {path.name for path in UNITS}


def ran(command, **how):
    """Run a command that must succeed without an error."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **how)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.fixture
def analyze(tmp_path):
    """Runs systemd-analyze for a user whose home is the folder of the test."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    return lambda *arguments: ran([program, "--user", *arguments], env=environment)


@pytest.mark.parametrize(("name", "most"), [("crawlers-scrapyd.service", 50), ("crawlers-nightly.service", 30)])
def test_systemd_finds_the_services_little_exposed(analyze, name, most):
    analyze("security", "--offline=true", f"--threshold={most}", ROOT / "deploy/systemd" / name)


def test_systemd_understands_the_units(analyze, tmp_path):
    for name in ("node/nightly.sh", "venv/bin/scrapyd", "project/deploy/scrapyd/configure.sh"):
        path = tmp_path / "crawls" / name
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n", "utf-8")
        path.chmod(0o755)
    analyze("verify", *UNITS)


def test_scripts_of_the_documentation_are_valid():
    scripts = re.findall(r"<<'END'\n(#!/bin/sh\n.*?)^END$", PAGE, re.DOTALL | re.MULTILINE)
    assert scripts
    for script in scripts:
        ran(["sh", "-n"], input=script)
