"""Tables and figures: a file each, with its command, its time and what to expect."""
