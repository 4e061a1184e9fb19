"""The pictures in the documentation can be reproduced, and are small."""

import subprocess
import sys
from pathlib import Path

import networkx

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n"


def test_picture_is_drawn_from_a_graph_file(tmp_path):
    graph = networkx.star_graph(40, create_using=networkx.DiGraph).reverse()
    for node, attributes in graph.nodes(data=True):
        attributes |= {"label": f"http://a.example/{node or ''}", "in_degree": graph.in_degree(node)}
    networkx.write_gexf(graph, tmp_path / "star.gexf")
    command = [sys.executable, ROOT / "docs" / "graph_picture.py", tmp_path / "star.gexf", tmp_path / "star.png"]
    subprocess.run(command, check=True, timeout=120)
    assert (tmp_path / "star.png").read_bytes().startswith(PNG)


def test_screenshots_need_a_demo(tmp_path):
    command = [sys.executable, "-m", "docs.screenshots", tmp_path, tmp_path]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (1, f"There is no store below {tmp_path}; run make demo first\n")


def test_pictures_are_small_and_shown():
    text = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    for picture in (ROOT / "docs" / "pictures").glob("*.png"):
        assert 10_000 < picture.stat().st_size < 150_000
        assert f"pictures/{picture.name})" in text
