"""Colours and sizes of nodes."""

from crawlers.graphs import looks


def test_colours_are_different_and_well_formed():
    for colours in (looks.COMMUNITY_COLOURS, looks.LEVEL_COLOURS, looks.STATUS_COLOURS.values()):
        assert len(set(colours)) == len(colours)
        assert all(len(bytes.fromhex(colour[1:])) == 3 for colour in colours)
