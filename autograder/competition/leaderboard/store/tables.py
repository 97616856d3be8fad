"""The tables of a board's database. `migrations/` brings an older database to this form.

Times are text in UTC as `rules.format_time` writes it. Column names stay as they are in boards that exist.
"""

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text
from sqlalchemy import UniqueConstraint as Unique

metadata = MetaData()
board = Table(
    "board",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1: a database has one board
    Column("name", String, nullable=False),
    Column("code", String, nullable=False),
    Column("deadline", String, nullable=False),
    Column("deadline_set", String),  # when it was set; None: long before it
    Column("per_day", Integer, nullable=False),
    Column("time_zone", String, nullable=False),
    Column("frozen", Integer, nullable=False),
    Column("instructor", String, nullable=False),  # SHA-256 of the token
    Column("version", Integer, nullable=False),  # increases with every change that visitors can see
    Column("joining", String, nullable=False),  # one of rules.JOINING
    Column("choices", Integer, nullable=False),  # entries that a group may choose for the final standing: 1 or 2
    Column("phases", Text, nullable=False),  # `phases.to_json`
)
groups = Table(
    "groups",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("folded", String, nullable=False, unique=True),  # `lines.fold_name` of the name
    Column("token", String, nullable=False, unique=True),  # its SHA-256
    Column("hub", String, unique=True),  # its identity at a JupyterHub: "user NAME" or "group NAME"
    Column("joined", String, nullable=False),
    Column("chosen", Integer),  # the entry that the group chose; None: its last one counts
    Column("second", Integer),  # the entry that it had chosen before
    Column("members", String, nullable=False),  # as the group wrote them
    Column("baseline", Integer, nullable=False),  # 1: displayed without a rank, for comparison
    Column("gone", Integer),  # None: the group is there; 0: it was deleted; n: it was merged into group n
)
entries = Table(
    "entries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("group", Integer, ForeignKey("groups.id"), nullable=False),
    Column("key", String, nullable=False),  # Idempotency-Key: the same request sent again makes no second entry
    Column("received", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("evidence", Text),  # JSON
    Column("withdrawn", Text),  # the reason
    Column("receipt", String, nullable=False),  # hash of the entry's line in the log
    Column("note", String, nullable=False),  # of the group, for itself and the instructor
    Unique("group", "key"),
)
files = Table(  # the content of an entry, in a table apart because it is large
    "files",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("random", LargeBinary, nullable=False),
    Column("disjoint", LargeBinary, nullable=False),
    Column("notebook", LargeBinary, nullable=False),
)
scores = Table(
    "scores",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("part", String, primary_key=True),
    Column("split", String, primary_key=True),
    Column("numbers", Text, nullable=False),  # JSON of what `worker.as_numbers` returns
)
verifications = Table(
    "verifications",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("part", String, primary_key=True),
    Column("state", String, nullable=False),  # waiting, running, or one of rules.FINISHED
    Column("said", Text, nullable=False),  # the verdict in one sentence; `remark` in Python
    Column("since", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("verdict", Text),  # JSON: everything else that `verify_notebook` returned
    Column("random", LargeBinary),  # the maps of that run, in NumPy's file format
    Column("disjoint", LargeBinary),
)
ranks = Table(
    "ranks",
    metadata,
    Column("part", String, primary_key=True),
    Column("split", String, primary_key=True),
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("rank", Integer),  # None: the entry was refused
)
rankings = Table(  # from which entries the ranks of a part were computed
    "rankings",
    metadata,
    Column("part", String, primary_key=True),
    Column("basis", String, nullable=False),
)
codes = Table(  # codes to join with that are valid for one group each
    "codes",
    metadata,
    Column("checksum", String, primary_key=True),  # SHA-256
    Column("group", Integer, ForeignKey("groups.id")),  # that joined with it; None: not used yet
)
log = Table(
    "log",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("time", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("detail", Text, nullable=False),  # JSON
    Column("hash", String, nullable=False),
)
ALL = [board, groups, entries, files, scores, verifications, ranks, rankings, codes, log]
