#!/usr/bin/env python3
"""Train an image and a text encoder on pairs, as CLIP does, on a dataset with captions."""

import argparse

import torch
from torch import Tensor, nn

import reader


class TextEncoder(nn.Module):
    """The mean of its bytes' embeddings; use a tokenizer and a transformer in practice."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(256, size)

    def forward(self, texts: list[str]) -> Tensor:
        """Return a row for each text."""
        coded = [torch.tensor(list(text.encode() or b" ")) for text in texts]
        starts = torch.tensor([0, *map(len, coded[:-1])]).cumsum(0)
        device = self.embedding.weight.device
        return self.embedding(torch.cat(coded).to(device), starts.to(device))


def main() -> None:
    """Train, and print the loss of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    arguments = parser.parse_args()

    loader = reader.Loader(
        arguments.shards,
        split="train",
        batch_size=arguments.batch_size,
        shuffle=True,
        fields=("image", "txt"),  # a tensor, and a list of strings
        transforms=[reader.RandomResizedCrop(224, scale=(0.9, 1.0))],
    )
    batches = reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD)
    images_encoder = nn.Sequential(
        nn.Conv2d(3, 64, 16, stride=16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    ).to(batches.device)
    texts_encoder = TextEncoder(64).to(batches.device)
    both = [*images_encoder.parameters(), *texts_encoder.parameters()]
    optimizer = torch.optim.AdamW(both, lr=1e-3)
    for epoch in range(arguments.epochs):
        for images, texts in batches:
            of_images = nn.functional.normalize(images_encoder(images), dim=1)
            of_texts = nn.functional.normalize(texts_encoder(texts), dim=1)
            scores = of_images @ of_texts.T / 0.07
            same = torch.arange(len(scores), device=scores.device)
            loss = nn.functional.cross_entropy(scores, same)
            loss = (loss + nn.functional.cross_entropy(scores.T, same)) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}, last caption: {texts[-1]!r}")


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
