"""The competition's leaderboard: groups hand in maps and notebooks, and everybody sees the ranking.

`rules` says what is allowed and visible, and touches nothing; so do `lines`, for names and all else that people write,
and `phases`. `store` keeps everything in one database and is the only room that writes to it; `audit` checks its log.
`worker`, in processes of its own, scores, ranks and verifies. `web` answers requests, by the JSON API and by pages, and
never scores. `server` runs the web application and the workers, `connections` bounds how many connections there are and
how long they take, `quiet` keeps logs short, `nginx.conf` is a recipe for a server in front. `folder` prepares a
board's folder, `backup` copies a board, `grades` puts the standing into a class. The command `course board` calls all
these.
"""
