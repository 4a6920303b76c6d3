"""A fastai Learner, over plain DataLoaders."""

import os

import fastai.callback.progress  # noqa: F401  # for no_bar
import torch
import torchvision
import training
from fastai.callback.core import Callback
from fastai.data.core import DataLoaders
from fastai.learner import CancelFitException, Learner
from torchvision.transforms import v2 as transforms


class Watch(Callback):
    def after_batch(self):
        if self.training and training.step(self.epoch, *self.xb, *self.yb):
            torch.save({"epoch": self.epoch}, training.args.checkpoint)
            raise CancelFitException


args = training.args
training.init_distributed_mode()
to_tensor = [
    transforms.ToImage(),
    transforms.ToDtype(torch.float32, scale=True),
    transforms.Normalize(training.MEAN, training.STD),
]
train_tfms = transforms.Compose(
    [transforms.RandomResizedCrop(args.size), transforms.RandomHorizontalFlip(), *to_tensor]
)
train_ds = torchvision.datasets.ImageFolder(os.path.join(args.data_path, "train"), train_tfms)
train_dl = torch.utils.data.DataLoader(
    train_ds, args.batch_size, shuffle=True, num_workers=args.workers
)
valid_tfms = transforms.Compose(
    [transforms.Resize(args.size), transforms.CenterCrop(args.size), *to_tensor]
)
valid_ds = torchvision.datasets.ImageFolder(os.path.join(args.data_path, "val"), valid_tfms)
valid_dl = torch.utils.data.DataLoader(valid_ds, args.batch_size, num_workers=args.workers)
start_epoch = 0
if args.resume:
    checkpoint = torch.load(args.checkpoint)
    start_epoch = checkpoint["epoch"]
model = training.network()
if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(model)
dls = DataLoaders(train_dl, valid_dl, device=torch.device("cpu"))
learn = Learner(dls, model, torch.nn.CrossEntropyLoss(), cbs=[Watch()])
with learn.no_bar(), learn.no_logging():
    learn.fit(args.epochs, 0.1, start_epoch=start_epoch)
training.end()
