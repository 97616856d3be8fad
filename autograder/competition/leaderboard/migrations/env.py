"""Runs the migrations on the connection that `Database.migrate` passes."""

from alembic import context

from autograder.competition.leaderboard.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
