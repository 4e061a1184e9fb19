"""Texts and links of a topic: `terms` of a text, `vectors` of topics, the expected relevance of links."""
