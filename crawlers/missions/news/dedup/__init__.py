"""Detects duplicates and near-duplicates of documents.

Begin with `document_fingerprints`, the keys by which documents are compared. `min_hash` finds texts that may be
near-duplicates, `shingles` decides whether they are, and `document_copies` keeps the families.
"""
