"""Colours and sizes of nodes."""

from crawlers.algorithms.maps import map_colours


def test_colours_are_different_and_well_formed():
    for colours in (map_colours.COMMUNITY_COLOURS, map_colours.LEVEL_COLOURS, map_colours.STATUS_COLOURS.values()):
        assert len(set(colours)) == len(colours)
        assert all(len(bytes.fromhex(colour[1:])) == 3 for colour in colours)


def test_a_node_is_the_larger_the_more_links_it_has():
    sizes = [map_colours.node_size(links) for links in (0, 0.5, 1, 10, 1_000_000)]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] < 70
