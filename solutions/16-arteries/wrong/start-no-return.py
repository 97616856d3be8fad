# task: start
# loses: start-check
# hint: start_at_rest returned None
def start_at_rest(n_A, n_u, t, A0, c0):
    small = 0.1 * t / (t + 0.3)
