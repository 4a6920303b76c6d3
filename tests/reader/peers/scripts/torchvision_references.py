"""In the way of torchvision's references/classification/train.py."""

import os

import torch
import torch.utils.data
import torchvision
import training
from torch import nn
from torchvision.transforms import v2 as transforms


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch):
    model.train()
    for image, target in data_loader:
        image, target = image.to(device), target.to(device)
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if training.step(epoch, image, target):
            return True
    return False


def evaluate(model, data_loader, device):
    model.eval()
    num_processed_samples = 0
    with torch.inference_mode():
        for image, _ in data_loader:
            model(image.to(device))
            num_processed_samples += image.shape[0]
    if torch.distributed.is_initialized():
        total = torch.tensor(num_processed_samples)
        torch.distributed.all_reduce(total)
        num_processed_samples = int(total)
    assert len(data_loader.dataset) == num_processed_samples


def load_data(traindir, valdir, args):
    to_tensor = [
        transforms.PILToTensor(),
        transforms.ToDtype(torch.float, scale=True),
        transforms.Normalize(mean=training.MEAN, std=training.STD),
    ]
    crop = [transforms.RandomResizedCrop(args.size), transforms.RandomHorizontalFlip()]
    dataset = torchvision.datasets.ImageFolder(
        traindir,
        transforms.Compose([*crop, *to_tensor]),
    )
    crop = [transforms.Resize(args.size), transforms.CenterCrop(args.size)]
    dataset_test = torchvision.datasets.ImageFolder(
        valdir,
        transforms.Compose([*crop, *to_tensor]),
    )
    if args.distributed:
        train_sampler = torch.utils.data.distributed.DistributedSampler(dataset)
        test_sampler = torch.utils.data.distributed.DistributedSampler(dataset_test, shuffle=False)
    else:
        train_sampler = torch.utils.data.RandomSampler(dataset)
        test_sampler = torch.utils.data.SequentialSampler(dataset_test)
    return dataset, dataset_test, train_sampler, test_sampler


def main(args):
    training.init_distributed_mode()
    device = torch.device("cpu")
    train_dir = os.path.join(args.data_path, "train")
    val_dir = os.path.join(args.data_path, "val")
    dataset, dataset_test, train_sampler, test_sampler = load_data(train_dir, val_dir, args)
    data_loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=train_sampler,
        num_workers=args.workers,
        pin_memory=False,
    )
    data_loader_test = torch.utils.data.DataLoader(
        dataset_test, batch_size=args.batch_size, sampler=test_sampler, num_workers=args.workers
    )
    model = training.network()
    model_without_ddp = model
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
        model_without_ddp = model.module
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.checkpoint, map_location="cpu")
        model_without_ddp.load_state_dict(checkpoint["model"])
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, args.epochs):
        if args.distributed:
            train_sampler.set_epoch(epoch)
        if train_one_epoch(model, criterion, optimizer, data_loader, device, epoch):
            checkpoint = {
                "model": model_without_ddp.state_dict(),
                "epoch": epoch,
            }
            torch.save(checkpoint, args.checkpoint)
            break
        evaluate(model, data_loader_test, device)


main(training.args)
training.end()
