"""Rows of news crawls: sources, URL rules, polls, documents and their keys, iterations, alarms."""
