"""Reads the files and settings that people write: hosts.txt, seeds, sources.yaml, topic.yaml, settings.

Every reader raises `ConfigError` with file, line, value and remedy. No reader accesses the store.
"""
