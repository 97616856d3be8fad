# task: refuse
def read_or_refuse(f, threshold):
    answers = []
    for row in f:
        best = int(np.argmax(row))
        answers.append(best if row[best] >= threshold else -1)
    return answers
