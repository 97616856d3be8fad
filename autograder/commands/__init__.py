"""The subcommands of `course` for instructors and authors, one thin module each: arguments in, one line out."""
