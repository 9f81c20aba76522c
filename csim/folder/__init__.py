"""The stream folder: everything that a stream keeps on disk, safe against crashes at any time."""
