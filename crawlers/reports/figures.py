"""Creates the figures of all charts with matplotlib, and writes them as SVG or PNG.

Charts draw on the given figure, never through pyplot, which keeps global state. Only `figure` imports matplotlib,
because the import takes most of a second, which commands without charts must not wait for.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing
from crawlers.graphs.crawl_map import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

    from crawlers.graphs.crawl_map import GraphMap

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933")  # for colour-blind readers, too
STYLES = ("-", "--", "-.", ":")  # for more curves than colours, and for greyscale
_drawing = threading.Lock()  # styles and warnings are those of the whole process
_STYLE: dict[RcKeyType, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: smaller and searchable
    "svg.hashsalt": "crawlers",  # instead of a random one
    "text.parse_math": False,  # a "$" in the name of a crawl is not a formula
    "xtick.color": "#666666",
    "xtick.labelcolor": "black",
    "ytick.color": "#666666",
    "ytick.labelcolor": "black",
}
INCHES = 10.0
MOST_LABELS = 16
APART = 0.06  # distance of labels, as a share of the picture
CROWD = 1_200  # nodes; points of more nodes are smaller, by the same share
DRAWN_LINES = 3_000  # more edges of an SVG file are one bitmap: a viewer would be slow with a line for each


@contextmanager
def figure(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Yield a figure of *width* and *height* inches, and write it to *path* at the end of the block.

    Equal drawings give equal bytes. Only one thread draws at a time. Raises `ConfigError` without matplotlib, and the
    errors of `replacing`.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.text import Text
    except ImportError as error:
        raise ConfigError(f"{path} is not drawn, because matplotlib is missing: pip install matplotlib") from error
    kind = path.suffix.lower().lstrip(".")
    with _drawing, matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        if kind == "svg":  # the viewer has the fonts
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        made = Figure((width, height), layout="constrained")
        yield made
        for text in made.findobj(Text):
            text.set_text(_printable(text.get_text()))
        with replacing(path) as stream:
            made.savefig(stream, format=kind, dpi=120, metadata={"Date": None} if kind == "svg" else None)


def _printable(text: str) -> str:
    """Return *text* with a replacement character for each one that XML forbids."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def draw_map(path: Path, graph: GraphMap) -> None:
    """Draw *graph* as *path*, with the names of some of the nodes that have most links; raises as `figure`."""
    with figure(path, INCHES, INCHES) as drawn:
        from matplotlib.collections import LineCollection

        axes = drawn.subplots()
        axes.set_axis_off()
        axes.set_aspect("equal")
        area = 0.35 * min(1.0, CROWD / max(len(graph.nodes), 1))  # square points
        places = [(node.x, node.y) for node in graph.nodes]
        lines = LineCollection(
            [(places[source], places[target]) for source, target in graph.edges],
            colors=[graph.nodes[source].colour for source, _ in graph.edges],
            linewidths=0.4,
            alpha=0.25 if len(graph.edges) < 10_000 else 0.12,
        )
        lines.set_rasterized(len(graph.edges) > DRAWN_LINES)
        axes.add_collection(lines)
        axes.scatter(
            [x for x, _ in places],
            [y for _, y in places],
            s=[node.size**2 * area for node in graph.nodes],
            c=[node.colour for node in graph.nodes],
            edgecolors="white",
            linewidths=0.4,
            zorder=2,
        )
        axes.autoscale_view()
        _write_labels(axes, graph)
        drawn.suptitle(graph.name, x=0.01, ha="left", fontweight="bold")
        for meaning in graph.legend:
            axes.scatter([], [], s=30, c=meaning.colour, label=meaning.text)
        if graph.legend:
            drawn.legend(loc="outside lower left", ncols=4, fontsize=7, handletextpad=0.1)
        if graph.subset:
            axes.text(0, 1.0, graph.subset, transform=axes.transAxes, fontsize=7, color="#666666", va="top")


def _write_labels(axes: Axes, graph: GraphMap) -> None:
    """Write the names of the largest nodes, as far as these are apart from each other."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    written: list[tuple[float, float]] = []
    order = sorted(range(len(graph.nodes)), key=lambda place: (-graph.nodes[place].size, place))
    for node in (graph.nodes[place] for place in order):
        x, y = (node.x - left) / ((right - left) or 1), (node.y - low) / ((high - low) or 1)
        if any(abs(x - other) < 3 * APART and abs(y - beside) < APART / 2 for other, beside in written):
            continue
        written.append((x, y))
        axes.annotate(
            short_name(node.label),
            (node.x, node.y),
            (node.size * 0.35 + 2, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            zorder=3,
            bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.8},
        )
        if len(written) == MOST_LABELS:
            return
