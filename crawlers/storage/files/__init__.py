"""Files beside the database: written whole or not at all, safe for spreadsheets."""
