"""The stream folder: everything one running stream owns on disk, so that nothing a person said is ever lost."""
