# task: bucket-hook
# loses: bucket-hook-check
# hint: The bucket is the sum of the ranks' gradients
def bucket_hook(notes, bucket):
    notes.append(bucket.buffer().nbytes)
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0])
