# task: bucket-hook
# loses: bucket-hook-check
# hint: all-reduce the bucket
def bucket_hook(notes, bucket):
    notes.append(bucket.buffer().nbytes)
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done
