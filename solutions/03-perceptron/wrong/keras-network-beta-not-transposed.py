# task: keras-network
# loses: keras-network-check
# hint: has rows and columns exchanged
def keras_network(weights, X, y):
    from course.keras import quiet_import

    tf, keras = quiet_import()
    alpha_0, alpha, beta_0, beta = weights
    model = keras.Sequential(
        [
            keras.Input((alpha.shape[1],), dtype="float64"),
            keras.layers.Dense(len(alpha), activation="sigmoid", dtype="float64"),
            keras.layers.Dense(len(beta), dtype="float64"),
        ]
    )
    model.set_weights([alpha.T, alpha_0, beta.T, beta_0])
    with tf.GradientTape() as tape:
        T = model(X)
        R = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, T)
    grads = [grad.numpy() for grad in tape.gradient(R, model.trainable_variables)]
    return T.numpy(), [grads[1], grads[0].T, grads[3], grads[2]]
