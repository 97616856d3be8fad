# task: hook
# loses: hook-check
# hint: nothing was compressed
def top_k_hook(state, bucket):
    total = bucket.buffer().clone()
    dist.all_reduce(total)
    future = torch.futures.Future()
    future.set_result(total / dist.get_world_size())
    return future
