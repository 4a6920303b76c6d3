"""A LightningModule and its trainer."""

import os

import lightning
import torch
import torchvision
import training
from lightning.pytorch.callbacks import ModelCheckpoint
from torchvision.transforms import v2 as transforms


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = training.network()

    def training_step(self, batch, batch_idx):
        images, labels = batch
        if training.step(self.current_epoch, images, labels):
            self.trainer.should_stop = True
        return torch.nn.functional.cross_entropy(self.model(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


args = training.args
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
saved = os.path.join(args.output_dir, "saved.ckpt")
trainer = lightning.Trainer(
    max_epochs=args.epochs,
    max_steps=args.stop or -1,
    accelerator="cpu",
    devices=args.world_size,
    strategy="ddp" if args.distributed else "auto",
    callbacks=[ModelCheckpoint(args.output_dir, "saved", every_n_train_steps=args.stop or 1000)],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Classifier(), loader, ckpt_path=saved if args.resume else None)
training.end()
