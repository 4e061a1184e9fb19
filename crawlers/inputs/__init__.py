"""What people write, turned into values: hosts.txt, seeds, sources.yaml, topic.yaml, settings.

Every reader raises `ConfigError` with file, line, value and remedy; nothing here reads the store.
"""
