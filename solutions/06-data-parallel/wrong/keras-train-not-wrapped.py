# task: keras-train
# loses: keras-train-check
# hint: different Keras models
def keras_train(comm, w, X, y, gamma, epochs, folder, pin=pin_tensorflow):
    import horovod.tensorflow.keras as hvd
    import tf_keras

    hvd.init()
    pin(hvd.local_rank())
    model = keras_line(w)
    optimizer = tf_keras.optimizers.SGD(gamma * hvd.size())
    model.compile(optimizer=optimizer, loss="mse")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf_keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}.h5"))
    history = model.fit(X, y, batch_size=len(y), epochs=epochs, callbacks=callbacks, verbose=0)
    return [float(value.squeeze()) for value in model.get_weights()], history.history["loss"]
