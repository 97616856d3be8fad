# task: staleness
def count_staleness(pushes, N):
    age, counted = [0] * N, []
    for worker in pushes:
        counted.append(age[worker - 1])
        age = [each + 1 for each in age]
        age[worker - 1] = 0
    return counted
