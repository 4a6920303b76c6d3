"""In the way of apex's examples/imagenet/main_amp.py, without its mixed precision."""

import os

import numpy as np
import torch
import torch.utils.data.distributed
import torchvision.datasets as datasets
import torchvision.transforms as transforms
import training


def fast_collate(batch, memory_format):
    imgs = [img[0] for img in batch]
    targets = torch.tensor([target[1] for target in batch], dtype=torch.int64)
    w, h = imgs[0].size[0], imgs[0].size[1]
    tensor = torch.zeros((len(imgs), 3, h, w), dtype=torch.uint8)
    tensor = tensor.contiguous(memory_format=memory_format)
    for row, img in zip(tensor, imgs, strict=True):
        row += torch.from_numpy(np.rollaxis(np.array(img, dtype=np.uint8), 2))
    return tensor, targets


class data_prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.mean, self.std = (
            torch.tensor(values).mul(255).view(1, 3, 1, 1)
            for values in (training.MEAN, training.STD)
        )

    def next(self):
        try:
            input, target = next(self.loader)
        except StopIteration:
            return None, None
        return input.float().sub_(self.mean).div_(self.std), target


def train(train_loader, model, criterion, optimizer, epoch):
    model.train()
    prefetcher = data_prefetcher(train_loader)
    input, target = prefetcher.next()
    i = 0
    while input is not None:
        i += 1
        assert i <= len(train_loader)
        loss = criterion(model(input), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if training.step(epoch, input, target):
            return True
        input, target = prefetcher.next()
    return False


def main(args):
    training.init_distributed_mode()
    memory_format = torch.contiguous_format
    crop_size = args.size
    model = training.network()
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    criterion = torch.nn.CrossEntropyLoss()
    args.start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.checkpoint)
        args.start_epoch = checkpoint["epoch"]
    traindir = os.path.join(args.data_path, "train")
    train_dataset = datasets.ImageFolder(
        traindir,
        transforms.Compose(
            [
                transforms.RandomResizedCrop(crop_size),
                transforms.RandomHorizontalFlip(),
            ]
        ),
    )
    train_sampler = None
    if args.distributed:
        train_sampler = torch.utils.data.distributed.DistributedSampler(train_dataset)
    collate_fn = lambda b: fast_collate(b, memory_format)  # noqa: E731
    train_loader = torch.utils.data.DataLoader(
        train_dataset, batch_size=args.batch_size, shuffle=(train_sampler is None),
        num_workers=args.workers, pin_memory=False, sampler=train_sampler, collate_fn=collate_fn,
    )  # fmt: skip
    for epoch in range(args.start_epoch, args.epochs):
        if args.distributed:
            train_sampler.set_epoch(epoch)
        if train(train_loader, model, criterion, optimizer, epoch):
            torch.save({"epoch": epoch}, args.checkpoint)
            break


main(training.args)
training.end()
