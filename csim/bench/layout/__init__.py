"""How a table is written: its rows, its files, and the pictures beside it."""
