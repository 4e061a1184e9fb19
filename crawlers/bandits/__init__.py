"""Which site is crawled next: the rules that RULE selects, multi-armed bandits whose arms are sites.

Begin with `site_rules`, the protocol and the registry. `index_rule` has the published rules R2 and R3, and `auto`,
`turns` the rules without learning. `reward_kinds` defines the reward of a pull (REWARD). Pure.
"""
