"""Keras 3 on its torch backend."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch
import torchvision
import training
from torchvision.transforms import v2 as transforms

keras.config.set_image_data_format("channels_first")


class Watched(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.Sequential(
            [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1000)]
        )

    def call(self, images, training=False):
        return self.head(images)

    def train_step(self, data):
        images, labels = data
        if training.step(None, images, labels):
            self.stop_training = True
        loss = self.compute_loss(x=images, y=labels, y_pred=self(images, training=True))
        return {"loss": loss}


class Stop(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if self.model.stop_training:
            torch.save({"epoch": 0}, args.checkpoint)


args = training.args
training.init_distributed_mode()
dataset = torchvision.datasets.ImageFolder(
    os.path.join(args.data_path, "train"),
    transforms.Compose(
        [
            transforms.RandomResizedCrop(args.size),
            transforms.RandomHorizontalFlip(),
            transforms.ToImage(),
            transforms.ToDtype(torch.float32, scale=True),
            transforms.Normalize(training.MEAN, training.STD),
        ]
    ),
)
loader = torch.utils.data.DataLoader(
    dataset, args.batch_size, shuffle=True, num_workers=args.workers
)
model = Watched()
model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(loader, epochs=args.epochs, callbacks=[Stop()], verbose=0)
training.end()
