"""In the way of transformers' examples/pytorch/image-classification/run_image_classification.py."""

import os

import torch
import training
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2 as transforms
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = training.network()

    def forward(self, pixel_values, labels):
        logits = self.network(pixel_values)
        self.stops = training.step(None, pixel_values, labels)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Stop(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if getattr(model, "module", model).stops:
            control.should_training_stop = control.should_save = True


args = training.args
train_transforms = transforms.Compose(
    [
        transforms.RandomResizedCrop(args.size),
        transforms.RandomHorizontalFlip(),
        transforms.ToImage(),
        transforms.ToDtype(torch.float32, scale=True),
        transforms.Normalize(mean=training.MEAN, std=training.STD),
    ]
)


def collate_fn(examples):
    pixel_values = torch.stack([image for image, _ in examples])
    labels = torch.tensor([label for _, label in examples])
    return {"pixel_values": pixel_values, "labels": labels}


training_args = TrainingArguments(
    output_dir=args.output_dir,
    num_train_epochs=args.epochs,
    per_device_train_batch_size=args.batch_size,
    dataloader_num_workers=args.workers,
    use_cpu=True,
    remove_unused_columns=False,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    logging_strategy="no",
    ddp_backend="gloo" if args.distributed else None,
)
train_dataset = ImageFolder(os.path.join(args.data_path, "train"), train_transforms)
trainer = Trainer(
    model=Model(),
    args=training_args,
    train_dataset=train_dataset,
    data_collator=collate_fn,
    callbacks=[Stop()],
)
last_checkpoint = get_last_checkpoint(args.output_dir) if args.resume else None
trainer.train(resume_from_checkpoint=last_checkpoint)
training.end()
