"""Which site is crawled next: the rules that RULE selects, multi-armed bandits whose arms are sites.

Begin with `site_rules`, the protocol, the registry, and the reward of a pull (REWARD). `index_rule` has the published
rules R2 and R3, and `auto`, `turns` the rules without learning. Pure.
"""
