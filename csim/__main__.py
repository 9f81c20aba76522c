"""`python -m csim` is the command `csim`."""

from csim.cli.start import main

main()
