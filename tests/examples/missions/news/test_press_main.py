"""The press can be served for trying crawls, until Ctrl-C."""

import signal
import subprocess
import sys
from urllib.request import urlopen

from crawlers.missions.news.feeds.sources_file import read_sources
from examples.press.server import ROOT


def test_press_is_served_with_its_sources_file_until_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "examples.press", str(tmp_path), "--sites", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as served:
        try:
            line = served.stdout.readline()
            sources = tmp_path / "sources.yaml"
            assert line.startswith(f"{sources}: 2 sites")
            found, problems = read_sources(str(sources))
            assert (len(found), problems) == (2, [])
            with urlopen(found[1].limits.site) as response:
                assert response.status == 200
        finally:
            served.send_signal(signal.SIGINT)
        assert (*served.communicate(), served.returncode) == ("", "", 0)
