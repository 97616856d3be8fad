# task: train
# loses: train-check
# hint: 4 steps are 4 calls
def train(model, X, y, gamma, B, epochs, broadcast=broadcast_parameters, average=average_gradients):
    """Data parallel SGD by the mean squared error, batches of B rows on each rank. Changes the model.

    X, y: this rank's rows, equally many on all ranks. broadcast(model), average(model): see above.
    """
    broadcast(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    for _ in range(epochs):
        for first in range(0, len(y) - B + 1, B):
            optimizer.zero_grad()
            miss = model(X[first : first + B]) - y[first : first + B]
            (miss**2).mean().backward()
            average(model)
            optimizer.step()
