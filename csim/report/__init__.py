"""HTML reports of event logs and of stream folders, each one file that needs no other."""
