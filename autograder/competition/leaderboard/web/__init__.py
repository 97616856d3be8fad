"""What answers requests: the JSON API for programs, pages for people, and the log-in through a JupyterHub.

`visitors` says who sends a request; `api`, `pages`, `group_pages` and `instructor_pages` have the routes; `wall`
computes what the wall shows, `pictures` draws it, `templating` makes HTML; `latest` keeps what all visitors see;
`events` tells them when it changes. `app` makes one application of these; every request passes through `middleware`.
Everything is read from and written to the store, whose rules hold for every route alike.
"""
