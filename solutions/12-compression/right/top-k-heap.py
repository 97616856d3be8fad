# task: top-k
import heapq


def top_k(p, k):
    places = heapq.nlargest(k, range(len(p)), key=lambda i: abs(p[i]))
    return np.array(places, dtype=np.int32), np.array([p[i] for i in places], dtype=np.float32)
