"""In the way of Accelerate's examples/cv_example.py."""

import os

import torch
import training
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2 as transforms


def training_function(args):
    accelerator = Accelerator(cpu=True)
    batch_size = args.batch_size
    train_tfm = transforms.Compose(
        [
            transforms.RandomResizedCrop(args.size, scale=(0.5, 1.0)),
            transforms.ToImage(),
            transforms.ToDtype(torch.float32, scale=True),
        ]
    )
    train_dataset = ImageFolder(os.path.join(args.data_path, "train"), train_tfm)
    train_dataloader = DataLoader(
        train_dataset, shuffle=True, batch_size=batch_size, num_workers=args.workers
    )
    model = training.network()
    mean, std = (
        torch.tensor(v).view(1, 3, 1, 1).to(accelerator.device)
        for v in (training.MEAN, training.STD)
    )
    optimizer = torch.optim.Adam(params=model.parameters(), lr=0.1)
    model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)
    starting_epoch = 0
    if args.resume:
        accelerator.load_state(os.path.join(args.output_dir, "state"))
        starting_epoch = torch.load(args.checkpoint)
    for epoch in range(starting_epoch, args.epochs):
        model.train()
        for inputs, labels in train_dataloader:
            inputs = (inputs - mean) / std
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            if training.step(epoch, inputs, labels):
                accelerator.save_state(os.path.join(args.output_dir, "state"))
                torch.save(epoch, args.checkpoint)
                return


training_function(training.args)
training.end()
