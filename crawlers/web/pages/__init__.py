"""The pages of the panel, a module for each subject; `ROUTES` of a module are its addresses."""
