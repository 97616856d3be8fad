# task: bucket-hook
# loses: bucket-hook-check
# hint: 830 is the number of weights
def bucket_hook(notes, bucket):
    notes.append(bucket.buffer().numel())
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
