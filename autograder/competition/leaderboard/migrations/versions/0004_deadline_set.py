"""The board's row says when its deadline was set."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade():
    op.add_column("board", sa.Column("deadline_set", sa.String))
