"""Queues of the waiting URLs of one site: the next URLs in memory, the rest in the store."""
