"""What texts and links say about a topic: `terms` of a text, `vectors` of topics, the value of links."""
