# task: outer-step
def outer_step(w, v, ws, eta, m):
    average_now = sum(ws) / len(ws)
    new_v = v * m + (w - average_now)
    look_ahead = new_v * m + w - average_now
    return w - look_ahead * eta, new_v
