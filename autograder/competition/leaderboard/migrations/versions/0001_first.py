"""The tables of the first boards. Each later change is a file of its own; this one stays as it is."""

import sqlalchemy as sql
from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, String, Text

revision = "0001"
down_revision = None


def upgrade():
    op.create_table(
        "board",
        Column("id", Integer, primary_key=True),
        Column("name", String, nullable=False),
        Column("code", String, nullable=False),
        Column("deadline", String, nullable=False),
        Column("per_day", Integer, nullable=False),
        Column("time_zone", String, nullable=False),
        Column("frozen", Integer, nullable=False),
        Column("instructor", String, nullable=False),
        Column("file", Text, nullable=False),
        Column("version", Integer, nullable=False),
    )
    op.create_table(
        "groups",
        Column("id", Integer, primary_key=True),
        Column("name", String, nullable=False),
        Column("folded", String, nullable=False, unique=True),
        Column("token", String, nullable=False, unique=True),
        Column("hub", String, unique=True),
        Column("joined", String, nullable=False),
        Column("chosen", Integer),
    )
    op.create_table(
        "entries",
        Column("id", Integer, primary_key=True),
        Column("group", Integer, ForeignKey("groups.id"), nullable=False),
        Column("key", String, nullable=False),
        Column("received", String, nullable=False),
        Column("digest", String, nullable=False),
        Column("evidence", Text),
        Column("withdrawn", Text),
        Column("receipt", String, nullable=False),
        sql.UniqueConstraint("group", "key"),
    )
    op.create_table(
        "files",
        Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
        Column("random", LargeBinary, nullable=False),
        Column("disjoint", LargeBinary, nullable=False),
        Column("notebook", LargeBinary, nullable=False),
    )
    op.create_table(
        "scores",
        Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
        Column("part", String, primary_key=True),
        Column("split", String, primary_key=True),
        Column("numbers", Text, nullable=False),
    )
    op.create_table(
        "verifications",
        Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
        Column("part", String, primary_key=True),
        Column("state", String, nullable=False),
        Column("said", Text, nullable=False),
        Column("since", String, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("verdict", Text),
        Column("random", LargeBinary),
        Column("disjoint", LargeBinary),
    )
    op.create_table(
        "ranks",
        Column("part", String, primary_key=True),
        Column("split", String, primary_key=True),
        Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
        Column("rank", Integer),
    )
    op.create_table(
        "rankings",
        Column("part", String, primary_key=True),
        Column("basis", String, nullable=False),
    )
    op.create_table(
        "log",
        Column("n", Integer, primary_key=True),
        Column("time", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("action", String, nullable=False),
        Column("detail", Text, nullable=False),
        Column("hash", String, nullable=False),
    )
