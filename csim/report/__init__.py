"""One self-contained HTML page from an event log."""
