"""What tests and benches share: a small lab and course, boards, browsers, kernels, attacks, and the house's own rules.

Nothing here is needed to teach or to grade. The modules may import the whole course and pytest, and start processes.
"""
