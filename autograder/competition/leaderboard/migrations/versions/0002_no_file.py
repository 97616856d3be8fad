"""The board's row no longer has a copy of board.toml."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.drop_column("board", "file")
