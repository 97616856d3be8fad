# task: hook
# loses: hook-check
# hint: the hook returned NoneType, not a Future
def top_k_hook(state, bucket):
    parts, residuals = [], state["residuals"]
    for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
        p = gradient.flatten() + residuals.get(parameter, 0)
        places = p.abs().topk(min(state["k"], len(p))).indices
        delta = torch.zeros_like(p)
        delta[places] = p[places]
        residuals[parameter] = p - delta
        parts.append(delta)
    future = torch.futures.Future()
    future.set_result(sparse_mean(torch.cat(parts), state["k"] * len(parts)))
