"""The competition of lab 09 as the instructor runs it: the verifier of entries, and the leaderboard."""
