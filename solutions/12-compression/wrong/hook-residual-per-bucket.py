# task: hook
# loses: hook-check
# hint: DDP builds its buckets anew
def top_k_hook(state, bucket):
    p = bucket.buffer() + state["residuals"].get(bucket.index(), 0)
    delta, begin = torch.zeros_like(p), 0
    for gradient in bucket.gradients():
        end = begin + gradient.numel()
        places = begin + p[begin:end].abs().topk(min(state["k"], end - begin)).indices
        delta[places] = p[places]
        begin = end
    state["residuals"][bucket.index()] = p - delta
    future = torch.futures.Future()
    future.set_result(sparse_mean(delta, state["k"] * len(bucket.gradients())))
    return future
