# task: train
def train(model, X, y, gamma, n, epochs, broadcast=broadcast_parameters, average=average_gradients):
    broadcast(model)
    for _ in range(epochs):
        for rows in zip(X.split(n), y.split(n), strict=True):
            model.zero_grad()
            torch.nn.functional.mse_loss(model(rows[0]), rows[1]).backward()
            average(model)
            with torch.no_grad():
                for param in model.parameters():
                    param -= gamma * param.grad
