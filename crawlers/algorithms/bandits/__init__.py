"""Which site next: the rules that RULE selects, multi-armed bandits whose arms are sites.

`site_rules` is the registry and the protocol; `beebot` has the published rules R2 and R3, `turns` those without
learning, `recent_means` the rule `auto`. `reward_kinds` defines the reward of a pull (REWARD).
"""
