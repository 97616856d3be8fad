"""The instructor's side of the course: writing labs, grading hand-ins, and the competition."""
