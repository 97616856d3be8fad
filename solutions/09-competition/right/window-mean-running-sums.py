# task: window-mean
def window_mean(image, r):
    rows, columns = image.shape[:2]
    total, count = np.zeros(image.shape), np.zeros((rows, columns, 1))
    for i in range(-min(r, rows), min(r, rows) + 1):
        for j in range(-min(r, columns), min(r, columns) + 1):
            here = slice(max(-i, 0), rows - max(i, 0)), slice(max(-j, 0), columns - max(j, 0))
            there = slice(max(i, 0), rows - max(-i, 0)), slice(max(j, 0), columns - max(-j, 0))
            total[here] += image[there]
            count[here] += 1
    return total / count
