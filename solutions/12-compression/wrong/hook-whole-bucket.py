# task: hook
# loses: hook-check
# hint: after one step the weights should be
def top_k_hook(state, bucket):
    k = state["k"] * len(bucket.gradients())
    p = bucket.buffer() + state["residuals"].get(0, 0)
    places = p.abs().topk(k).indices
    delta = torch.zeros_like(p)
    delta[places] = p[places]
    state["residuals"][0] = p - delta
    future = torch.futures.Future()
    future.set_result(sparse_mean(delta, k))
    return future
