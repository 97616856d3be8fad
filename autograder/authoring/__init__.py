"""What an author's commands do: write a new lab, check one, judge its wrong and right answers, show it solved.

Reads solutions/ and runs labs in kernels; only `new` writes there.
"""
