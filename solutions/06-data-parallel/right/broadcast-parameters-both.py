# task: broadcast-parameters
def broadcast_parameters(model):
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            dist.broadcast(value, 0)
