"""Turns responses into values: bytes in, values out. Nothing here fetches, stores or reads settings.

`response` turns a response into a `Page`, with `html` and `charset`.
"""
