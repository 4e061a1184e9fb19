"""Files beside the database: written atomically, and safe to open in spreadsheets."""
