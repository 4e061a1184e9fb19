"""Whole crawls, as processes, against a web on loopback."""
