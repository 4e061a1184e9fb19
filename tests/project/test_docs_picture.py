"""The picture in the README can be reproduced, and is small."""

from __future__ import annotations

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


def test_picture_of_the_readme_is_small():
    assert 10_000 < (ROOT / "docs" / "pictures" / "archive.png").stat().st_size < 150_000
