"""The pages of the panel, a module for each subject, found by their names; `ROUTES` of a module are its addresses."""
