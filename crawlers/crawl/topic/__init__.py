"""The policy of topic crawls: it determines the topic, stores it, and holds pages back until it is known."""
