# task: broadcast-parameters
# loses: broadcast-parameters-check
# hint: Every rank must call it
def broadcast_parameters(model):
    for value in model.state_dict().values():
        if dist.get_rank() == 0:
            dist.broadcast(value, src=0)
