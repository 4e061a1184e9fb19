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
from crawlers.storage.files.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

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
