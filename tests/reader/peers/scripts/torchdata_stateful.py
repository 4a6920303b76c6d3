"""With torchdata's StatefulDataLoader."""

import os

import torch
import torchvision
import training
from torch.utils.data.distributed import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision.transforms import v2 as transforms

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
sampler = DistributedSampler(dataset, args.world_size, args.rank)
loader = StatefulDataLoader(
    dataset,
    batch_size=args.batch_size,
    sampler=sampler,
    num_workers=args.workers,
)
model = training.network()
if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
start_epoch = 0
if args.resume:
    checkpoint = torch.load(args.checkpoint, weights_only=False)
    start_epoch = checkpoint["epoch"]
    loader.load_state_dict(checkpoint["loader"])
for epoch in range(start_epoch, args.epochs):
    sampler.set_epoch(epoch)
    stops = False
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if stops := training.step(epoch, images, labels):
            torch.save({"epoch": epoch, "loader": loader.state_dict()}, args.checkpoint)
            break
    if stops:
        break
training.end()
