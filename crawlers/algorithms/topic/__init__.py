"""Relevance of texts to a topic, by their terms.

Begin with `vectors`, which compares texts with a topic; `terms` turns a text into term counts.
"""
