"""Equal figures and pictures of graphs become equal files, with any text."""

import sys
import threading
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from crawlers.errors import ConfigError
from crawlers.graphs.crawl_map import GraphMap, MapNode, Meaning
from crawlers.reports.figures import MOST_LABELS, draw_map, figure

SVG = "{http://www.w3.org/2000/svg}"


def draw(path, title):
    with figure(path, 2, 1) as made:
        made.suptitle(title)
        made.add_subplot().plot([1, 2], [3, 4])
    return path.read_bytes()


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")])
def test_equal_drawings_are_equal_bytes(tmp_path, name, begins):
    drawn = draw(tmp_path / name, "title")
    assert drawn.startswith(begins)
    assert draw(tmp_path / name, "title") == drawn


@pytest.mark.parametrize(
    ("title", "shown"),
    [("<b>&\x01", "<b>&\ufffd"), ("$x_1$ and $", "$x_1$ and $"), ("中文", "中文")],
    ids=["markup", "formula", "letters that the fonts do not have"],
)
def test_text_is_shown_literally(tmp_path, title, shown):
    root = ElementTree.fromstring(draw(tmp_path / "a.svg", title))  # noqa: S314 - our own
    assert shown in [element.text for element in root.iter(f"{SVG}text")]


def test_styles_of_several_threads_are_not_mixed(tmp_path):
    """The panel draws in as many threads as there are readers."""
    import matplotlib

    inside = threading.Barrier(2)

    def draw(name):
        with figure(tmp_path / name, 3, 2) as drawn, suppress(threading.BrokenBarrierError):
            inside.wait(0.1)  # both are inside if they may be
            drawn.suptitle("$x^$")

    before = dict(matplotlib.rcParams)
    with ThreadPoolExecutor() as threads:
        list(threads.map(draw, ("a.svg", "b.svg")))
    assert inside.broken
    assert dict(matplotlib.rcParams) == before


def test_missing_matplotlib_is_one_sentence_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "a.svg"
    missing = pytest.raises(ConfigError, match=r"a\.svg is not drawn, because matplotlib is missing: pip install")
    with missing, figure(path, 1, 1):
        pass
    assert list(tmp_path.iterdir()) == []


HOSTILE = "http://a.test/<script>alert(1)</script>&\0$\\frac{1}{2}$"


def circle(size):
    urls = [HOSTILE, *(f"http://a.test/{n}" for n in range(1, size))]
    nodes = [MapNode(url, "", 1, 1, 1, 100.0 * n, 100.0 * (n % 7), 5.0, "#4e79a7") for n, url in enumerate(urls)]
    edges = [(n, (n + 1) % size) for n in range(size)]
    return GraphMap("a.test", nodes, edges, size + 1, size, [Meaning("level %(name)s", "1", "#4e79a7")])


def test_equal_maps_give_equal_files_with_escaped_names(tmp_path):
    for name in ("one", "two"):
        draw_map(tmp_path / f"{name}.svg", circle(30))
    text = (tmp_path / "one.svg").read_text("utf-8")
    assert text == (tmp_path / "two.svg").read_text("utf-8")
    assert "<script>" not in text
    assert "&lt;/script&gt;" in text
    assert "The 30 pages to which most pages link, out of 31" in text
    assert 2 < text.count("http://a.test") + text.count("/1") <= 5 * MOST_LABELS
