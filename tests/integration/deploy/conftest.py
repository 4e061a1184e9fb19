"""A real scrapyd on loopback, with the project deployed to it."""

import os

import pytest

from tests.support.scrapyd_nodes import Project, running_node


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Nothing of the developer's own: no ~/.scrapyd.conf, no proxy, no PYTHONPATH that hides the egg."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.fixture
def project(tmp_path, environment):
    return Project(tmp_path / "project", environment)


@pytest.fixture(scope="module")
def node(tmp_path_factory, environment):
    """A scrapyd with the project deployed to it, whose version says that it is the egg's."""
    with running_node(tmp_path_factory.mktemp("node"), environment) as node:
        node.project = Project(tmp_path_factory.mktemp("deployed") / "project", environment)
        node.project.set_version("1.0.1")
        node.project.set_target(f"http://127.0.0.1:{node.port}")
        assert '"spiders": ' in node.project.run("-m", "scrapyd_client", "deploy")
        yield node
