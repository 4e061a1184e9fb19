"""Measurements: `make bench`, or one at a time with `python -m bench.NAME`."""
