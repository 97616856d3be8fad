"""The competition of lab 09 as students use it: the scene and its splits, the scorer, the line to the leaderboard."""
