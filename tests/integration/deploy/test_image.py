"""What the Dockerfile sets up, here without Docker: scrapyd, the installed project, and the check of its health."""

import json
import os
import re
import subprocess
import sys

import pytest

from examples.server import ROOT, serve
from tests.support.of_missions import needs
from tests.support.scrapyd_nodes import PATIENCE_S, running_node

pytestmark = needs("sitegraph")

ACCOUNT = {"SCRAPYD_USERNAME": "crawlers", "SCRAPYD_PASSWORD": "of this test"}  # compose.yaml gives them
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


@pytest.fixture(scope="module")
def container(tmp_path_factory, environment):
    """A scrapyd as in a container, whose folders are elsewhere."""
    folder = tmp_path_factory.mktemp("container")
    text = (ROOT / "deploy/docker/scrapyd.conf").read_text("utf-8")
    for inside in ("/var/lib/scrapyd", "/data"):
        assert inside in text
        text = text.replace(inside, str(folder))
    text = text.replace("bind_address = 0.0.0.0", "bind_address = 127.0.0.1\nhttp_port = {port}\npoll_interval = 0.1")
    variables = dict(word.split("=") for word in re.search(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)[1].split())
    with running_node(folder, {**environment, **ACCOUNT, **variables, "PYTHONPATH": str(ROOT)}, text) as node:
        yield node


def health(port):
    """Return the exit status of the command that tells Docker whether the container is healthy."""
    command = json.loads(re.search(r"^ +CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[1])
    assert command[0] == "python"
    done = subprocess.run([sys.executable, *(word.replace(":6800/", f":{port}/") for word in command[1:])],
                          env={**os.environ, **ACCOUNT}, capture_output=True, timeout=PATIENCE_S)  # fmt: skip
    return done.returncode


def test_container_is_healthy_while_scrapyd_responds(container):
    assert health(container.port) == 0
    assert health(1) == 1


def test_installed_project_is_there_without_a_deployment(container):
    assert container.call("listprojects")["projects"] == ["crawlers"]


def test_job_crawls_with_its_file_of_settings(container):
    text = (ROOT / "deploy/docker/crawl.toml").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("DATABASE_URL", "METRICS_"))]
    lines.append('DATABASE_URL = "sqlite:///store.sqlite"')
    (container.folder / "crawl.toml").write_text("\n".join(lines), "utf-8")
    with serve() as web:
        job = container.schedule(f"{web.origins['library']};4;1;0", {"SETTINGS_FILE": "crawl.toml"})
        assert container.end_of(job) == 0
    assert (container.folder / "store.sqlite").exists()
    assert [path.suffix for path in (container.folder / "result").iterdir()].count(".gexf") == 1
