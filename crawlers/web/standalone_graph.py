"""A graph as one HTML file that opens without a network: data, sigma.js and our script are inside.

Its policy allows these scripts by their hashes, and no others.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from crawlers.files.cells import clean
from crawlers.web.templating import template

if TYPE_CHECKING:
    from crawlers.graphs.maps.graph_map import GraphMap

STATIC = Path(__file__).parent / "static"
SCRIPTS = ("vendor/graphology.min.js", "vendor/sigma.min.js", "graph_map.js")
STYLE = "graph_map.css"


def standalone_graph(graph: GraphMap) -> str:
    """Return the file that shows *graph*; equal graphs give equal files."""
    scripts = [_read(name) for name in SCRIPTS]
    style = _read(STYLE)
    allowed = " ".join(map(_hash, scripts))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    return template("standalone_graph.html").render(
        graph=graph,
        policy=policy,
        style=Markup(style),  # noqa: S704 - files of ours
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - files of ours
        data=Markup(graph_json(graph)),  # noqa: S704 - escaped in `graph_json`
    )


def _read(name: str) -> str:
    return (STATIC / name).read_text("utf-8").strip()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def graph_json(graph: GraphMap) -> str:
    """Return nodes and edges as JSON in which no text can end the script element, for `graph_map.js`."""
    nodes = [(clean(node.label), clean(node.title), *node[2:-1]) for node in graph.nodes]  # without the group
    text = json.dumps({"nodes": nodes, "edges": graph.edges}, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
