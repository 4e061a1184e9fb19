"""How the workers of one crawl share its sites and its page budget. Begin with `sharing`."""
