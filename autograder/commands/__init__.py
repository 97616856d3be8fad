"""One thin module per subcommand of `course`: its arguments, one call of the room that does the work, its output."""
