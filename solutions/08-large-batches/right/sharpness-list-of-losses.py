# task: sharpness
def sharpness(loss, gradient, w, epsilon, steps):
    bound = epsilon * (1 + abs(w))
    point, losses = w.copy(), [loss(w)]
    for _ in range(steps):
        point = point + bound * np.sign(gradient(point)) * (2 / steps)
        point = np.minimum(np.maximum(point, w - bound), w + bound)
        losses.append(loss(point))
    return (max(losses) - losses[0]) / (1 + losses[0]) * 100
