"""Pictures of graphs."""

from crawlers.algorithms.maps.graph_map import GraphMap, MapNode, Meaning
from crawlers.reports.figures import MOST_LABELS, draw_map

HOSTILE = "http://a.test/<script>alert(1)</script>&\0$\\frac{1}{2}$"


def circle(size):
    nodes = [
        MapNode(HOSTILE if n == 0 else f"http://a.test/{n}", "", 1, 1, 1, 100.0 * n, 100.0 * (n % 7), 5.0, "#4e79a7")
        for n in range(size)
    ]
    return GraphMap(
        "a.test",
        nodes,
        [(n, (n + 1) % size) for n in range(size)],
        size + 1,
        size,
        [Meaning("level %(name)s", "1", "#4e79a7")],
    )


def test_equal_maps_give_equal_files_with_escaped_names(tmp_path):
    for name in ("one", "two"):
        draw_map(tmp_path / f"{name}.svg", circle(30))
    text = (tmp_path / "one.svg").read_text("utf-8")
    assert text == (tmp_path / "two.svg").read_text("utf-8")
    assert "<script>" not in text
    assert "&lt;/script&gt;" in text
    assert "The 30 pages to which most pages link, out of 31" in text
    assert 2 < text.count("http://a.test") + text.count("/1") <= 5 * MOST_LABELS
