"""Spiders that share one adaptive scheduler, one store and one set of graphs."""

__version__ = "0.1.0"
