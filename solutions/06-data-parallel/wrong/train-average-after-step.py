# task: train
# loses: train-check
# hint: the models drift apart
def train(model, X, y, gamma, n, epochs, broadcast=broadcast_parameters, average=average_gradients):
    broadcast(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    for _ in range(epochs):
        for first in range(0, len(y), n):
            optimizer.zero_grad()
            miss = model(X[first : first + n]) - y[first : first + n]
            (miss**2).mean().backward()
            optimizer.step()
            average(model)
