"""In the way of timm's train.py."""

import os

import torch
import training
from timm.data import create_dataset, create_loader


def train_one_epoch(epoch, model, loader, optimizer, loss_fn):
    model.train()
    for batch_idx, (input, target) in enumerate(loader):
        if not training.args.prefetcher:
            input, target = input.cuda(), target.cuda()
        loss = loss_fn(model(input), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if training.step(epoch, input, target):
            assert batch_idx < len(loader)
            return True
    return False


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        for input, _ in loader:
            model(input)


def main(args):
    training.init_distributed_mode()
    args.prefetcher = True
    data_config = {"input_size": (3, args.size, args.size), "interpolation": "bilinear"}
    data_config |= {"mean": training.MEAN, "std": training.STD, "crop_pct": 0.875}
    model = training.network()
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    dataset_train = create_dataset(
        "",
        root=args.data_path,
        split="train",
        is_training=True,
    )
    dataset_eval = create_dataset(
        "",
        root=args.data_path,
        split="val",
        is_training=False,
    )
    loader_train = create_loader(
        dataset_train,
        input_size=data_config["input_size"],
        batch_size=args.batch_size,
        is_training=True,
        use_prefetcher=args.prefetcher,
        interpolation=data_config["interpolation"],
        mean=data_config["mean"],
        std=data_config["std"],
        num_workers=args.workers,
        distributed=args.distributed,
        device=torch.device("cpu"),
        persistent_workers=False,
    )
    loader_eval = create_loader(
        dataset_eval,
        input_size=data_config["input_size"],
        batch_size=args.batch_size,
        is_training=False,
        use_prefetcher=args.prefetcher,
        interpolation=data_config["interpolation"],
        mean=data_config["mean"],
        std=data_config["std"],
        num_workers=args.workers,
        distributed=args.distributed,
        crop_pct=data_config["crop_pct"],
        device=torch.device("cpu"),
        persistent_workers=False,
    )
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.checkpoint)
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, args.epochs):
        if hasattr(dataset_train, "set_epoch"):
            dataset_train.set_epoch(epoch)
        elif args.distributed and hasattr(loader_train.sampler, "set_epoch"):
            loader_train.sampler.set_epoch(epoch)
        if train_one_epoch(epoch, model, loader_train, optimizer, torch.nn.CrossEntropyLoss()):
            torch.save({"epoch": epoch}, args.checkpoint)
            break
        validate(model, loader_eval)
    assert os.path.isdir(args.data_path)


main(training.args)
training.end()
