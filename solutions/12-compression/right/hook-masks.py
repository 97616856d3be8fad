# task: hook
def top_k_hook(state, bucket):
    sent = bucket.buffer().clone()
    begin = 0
    for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
        total = gradient.reshape(-1).clone()
        if parameter in state["residuals"]:
            total += state["residuals"][parameter]
        least = total.abs().sort(descending=True).values[min(state["k"], len(total)) - 1]
        part = total * (total.abs() >= least)
        state["residuals"][parameter] = total - part
        sent[begin : begin + len(total)] = part
        begin += len(total)
    done = torch.futures.Future()
    done.set_result(sparse_mean(sent, state["k"] * len(bucket.parameters())))
    return done
