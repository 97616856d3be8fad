"""How engines come to life and go: engine sets, the supervisor that owns their processes, and the notebook's view."""
