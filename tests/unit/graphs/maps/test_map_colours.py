"""Colours and sizes of nodes."""

from crawlers.graphs.maps import map_colours


def test_colours_are_different_and_well_formed():
    for colours in (map_colours.COMMUNITY_COLOURS, map_colours.LEVEL_COLOURS, map_colours.STATUS_COLOURS.values()):
        assert len(set(colours)) == len(colours)
        assert all(len(bytes.fromhex(colour[1:])) == 3 for colour in colours)
