"""The instructor's side, grouped by the road that a hand-in takes: labs, intake, examination, gradebook, reports.

`authoring` is for those who write labs, `competition` runs the leaderboard, `commands` has the subcommands of `course`,
`bench` measures, and `testing` has what benches and tests share. Students do not receive this folder.
"""
