# task: keras-network
def keras_network(weights, X, y):
    from course.keras import quiet_import

    tf, keras = quiet_import()
    alpha_0, alpha, beta_0, beta = weights
    hidden = keras.layers.Dense(len(alpha), "sigmoid", dtype="float64")
    output = keras.layers.Dense(len(beta), dtype="float64")
    output(hidden(X))
    hidden.set_weights([alpha.T, alpha_0])
    output.set_weights([beta.T, beta_0])
    with tf.GradientTape() as tape:
        T = output(hidden(X))
        R = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, T))
    of = [hidden.bias, hidden.kernel, output.bias, output.kernel]
    return T.numpy(), [g.numpy().T for g in tape.gradient(R, [v.value for v in of])]
