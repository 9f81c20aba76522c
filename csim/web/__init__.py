"""The service: a stream folder over HTTP, for programs, pages and people on other machines.

`app` puts the parts together. `service` holds what they share. `engine_thread` runs the stream in
one thread, and `source_thread` feeds it from a source. `security` and `request_limits` stand before
every request. Each other module is one resource: `images`, `pictures`, `questions`, `answers`,
`classes`, `events`, `stream_state`, `exports`, `session`, `health`.
"""
