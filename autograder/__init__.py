"""The instructor's side, grouped by the road that a hand-in takes: labs, intake, examination, gradebook, reports.

`authoring` is for those who write labs, `competition` runs the leaderboard, `commands` has the subcommands of `course`,
`bench` measures, and `testing` has what benches and tests share. Students do not receive this folder.
"""

import sys

# Without this, importing nbformat takes 2.3 s in place of 0.3: jsonschema has rfc3987_syntax compile 38 grammars, all
# for checks of internationalized addresses, which the notebook format does not ask for.
sys.modules.setdefault("rfc3987_syntax", None)
