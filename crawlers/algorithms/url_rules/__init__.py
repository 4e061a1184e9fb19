"""Rules that classify URLs as articles: regular expressions, written by people or learnt from labelled URLs.

Begin with `rule_learner`, which learns the rules of one domain (with `pattern_tree`), and `rule_set`, which matches a
URL against all rules of its domain. `url_expressions` defines which expressions are valid.
"""
