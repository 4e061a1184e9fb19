"""The commands of the tutorial print what it shows when they are run on the demo web."""

import os
import re
import subprocess
import sys
from pathlib import Path

from examples.server import ROOT, serve
from tests.support.of_missions import EVERY

TUTORIAL = ROOT / "docs" / "tutorial.md"
STARTED_BY_THE_TEST = ("make demo", "examples.server")
END_OF_STEP = "--- end of step {} ---"


def steps(text):
    """Return each block of commands with the output lines that follow it."""
    found = []
    for block in re.finditer(r"^```sh\n(.*?)^```\n(.*?)(?=^```|^#|\Z)", text, re.MULTILINE | re.DOTALL):
        printed = [line.strip() for line in block[2].splitlines() if line.startswith("    ")]
        found.append((block[1], [line for line in printed if line != "…"]))
    return [step for step in found if not any(name in step[0] for name in STARTED_BY_THE_TEST)]


def pattern(line):
    """Return a regular expression for *line* that allows any port, and any text for an ellipsis."""
    return re.sub(r"127\\\.0\\\.0\\\.1([:_])\d+", r"127\\.0\\.0\\.1\1\\d+", re.escape(line)).replace("…", ".*")


def test_examples_are_found_and_compared():
    text = "```sh\nmake demo\n```\n    no\n\n```sh\na\n```\n\nSo:\n\n    … at 127.0.0.1:12,\n    …\n\n```sh\nb\n```\n"
    assert steps(text) == [("a\n", ["… at 127.0.0.1:12,"]), ("b\n", [])]
    assert re.search(pattern("… at 127.0.0.1:12,"), "now at 127.0.0.1:34567,")
    assert not re.search(pattern("… at 127.0.0.1:12,"), "now at 127.0.0.2:12,")


@EVERY
def test_tutorial_shows_what_its_commands_print(tmp_path):
    project = tmp_path / "project"
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "activate").write_text(f"PATH={Path(sys.executable).parent}:$PATH\n")
    (project / "scrapy.cfg").write_bytes((ROOT / "scrapy.cfg").read_bytes())
    examples = steps(TUTORIAL.read_text("utf-8"))
    assert len(examples) > 6
    script = "".join(f"{code}echo '{END_OF_STEP.format(n)}'\n" for n, (code, _) in enumerate(examples))
    with serve(ports_file=project / "ports.txt"):
        done = subprocess.run(
            ["bash", "-euc", script], cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    rest = done.stdout
    for n, (code, lines) in enumerate(examples):
        printed, _, rest = rest.partition(END_OF_STEP.format(n))
        for line in lines:
            assert re.search(pattern(line), printed), f"{code}does not print {line!r} but\n{printed}"
