"""Reads the settings that people write into what the program works with. Raises `ConfigError`; reads no store."""
