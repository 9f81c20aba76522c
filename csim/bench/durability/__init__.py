"""What it costs that nothing is lost, and whether nothing is: measured on real stream folders."""
