"""The labelling page, measured in a browser."""
