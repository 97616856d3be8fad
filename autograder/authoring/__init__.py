"""What an author works with: a new lab, its check, its judgement in kernels, and the solved lab to look at."""
