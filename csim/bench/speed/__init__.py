"""How the parts and the whole are timed: two sides that take turns, so that load slows both."""
