"""Sources and their feeds: sources.yaml, the formats of feeds, and what pages announce. Begin with `sources_file`."""
