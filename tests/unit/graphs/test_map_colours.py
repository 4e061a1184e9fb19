"""Colours and sizes of nodes."""

from crawlers.graphs import graph_map


def test_colours_are_different_and_well_formed():
    for colours in (graph_map.COMMUNITY_COLOURS, graph_map.LEVEL_COLOURS, graph_map.STATUS_COLOURS.values()):
        assert len(set(colours)) == len(colours)
        assert all(len(bytes.fromhex(colour[1:])) == 3 for colour in colours)
