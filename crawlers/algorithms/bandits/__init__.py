"""Which site next: the rules that RULE names, multi-armed bandits whose arms are sites.

`site_rules` is the registry and the contract; `beebot` has the rules R2 and R3 as published, `turns` those that learn
nothing, `recent_means` the rule `auto`. `reward_kinds` says what a pull earns (REWARD).
"""
