"""Alembic's way to the tables: on the connection that `store.migrate` gives."""

from alembic import context

from autograder.competition.leaderboard.store import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
