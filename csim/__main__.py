"""`python -m csim` is the command `csim`."""

from csim.cli.main import app

app()
