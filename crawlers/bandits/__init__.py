"""Which site is crawled next: the rules that RULE selects, multi-armed bandits whose arms are sites.

Begin with `site_rules`, the protocol and the registry. `beebot` has the published rules R2 and R3, `turns` the rules
without learning, `recent_means` the rule `auto`. `reward_kinds` defines the reward of a pull (REWARD). Pure.
"""
