"""The waiting URLs of one site: the next ones in memory, the rest in the store."""
