"""Is a URL an article? Rules that people write or the crawl learns, and a model of URLs.

Begin with `rule_learner`, which learns the rules of one domain (with `url_pattern`), and `url_classifier`, which holds
a URL against all rules of its domain, and asks the model, `url_prior`.
"""
