"""What board.toml said is kept beside it, in its folder: machines that share a database have one each."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.drop_column("board", "file")
