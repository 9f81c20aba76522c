"""The labelling page: views rendered on the server, one script, one stylesheet.

One file per view. `router` joins them. `render` turns a template into a response with a strict
Content-Security-Policy. Without JavaScript you see questions and answer them by plain forms. The
script adds keys, the next question at once, live figures and the map; it uses the API under /v1.
"""
