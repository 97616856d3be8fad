"""What groups and the instructor may do besides handing in: codes for one group each, phases, two final choices,
members, notes, a baseline, and groups that were deleted or merged."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, String, Text

revision = "0003"
down_revision = "0002"


def upgrade():
    op.add_column("board", Column("joining", String, nullable=False, server_default="code"))
    op.add_column("board", Column("choices", Integer, nullable=False, server_default="1"))
    op.add_column("board", Column("phases", Text, nullable=False, server_default="[]"))
    op.add_column("groups", Column("second", Integer))
    op.add_column("groups", Column("members", String, nullable=False, server_default=""))
    op.add_column("groups", Column("baseline", Integer, nullable=False, server_default="0"))
    op.add_column("groups", Column("gone", Integer))
    op.add_column("entries", Column("note", String, nullable=False, server_default=""))
    op.create_table(
        "codes",
        Column("checksum", String, primary_key=True),
        Column("group", Integer, ForeignKey("groups.id")),
    )
