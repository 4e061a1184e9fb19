"""Simulated crawls: site rules on synthetic or stored webs, page orders and strategies on stored ones.

Begin with `experiment`.
"""
