"""Detects equal and nearly equal texts: `simhash`, and keys of documents."""
