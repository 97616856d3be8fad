# task: sums
def normal_equations(comm, J, r):
    both = np.column_stack([J, r])
    gram = both.T @ both
    upper = np.triu_indices(len(gram))
    P = J.shape[1]
    flat = np.concatenate([gram[:P, :P].ravel(), gram[:P, P], gram[P:, P]])
    del upper
    flat = parallel.all_reduce(comm, flat)
    return flat[: P * P].reshape(P, P), flat[P * P : P * P + P], flat[-1].item()
