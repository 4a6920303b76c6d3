"""ResNet-18 and ResNet-50 (He et al. 2015, arXiv:1512.03385), as torchvision builds them.

The stride of a bottleneck sits in its 3x3 convolution ("ResNet v1.5").
"""

import torch
from torch import Tensor, nn


def conv(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    """A convolution and its batch norm."""
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """Convolutions with a shortcut around them: two of 3x3, or 1x1, 3x3, 1x1 (a bottleneck)."""

    def __init__(self, inputs: int, width: int, stride: int, is_bottleneck: bool) -> None:
        super().__init__()
        outputs = 4 * width if is_bottleneck else width
        if is_bottleneck:
            self.body = nn.Sequential(
                conv(inputs, width, 1),
                nn.ReLU(inplace=True),
                conv(width, width, 3, stride),
                nn.ReLU(inplace=True),
                conv(width, outputs, 1),
            )
        else:
            self.body = nn.Sequential(
                conv(inputs, width, 3, stride), nn.ReLU(inplace=True), conv(width, width, 3)
            )
        is_same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if is_same else conv(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same or half the size."""
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet(blocks: tuple[int, ...], is_bottleneck: bool, classes: int) -> nn.Sequential:
    """Four stages of `blocks` residual blocks, for images (B, 3, H, W)."""
    layers = [conv(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for number in range(count):
            stride = 2 if stage and not number else 1
            layers.append(Residual(channels, width, stride, is_bottleneck))
            channels = 4 * width if is_bottleneck else width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)


def resnet18(classes: int = 1000) -> nn.Sequential:
    """11.7 million parameters with 1,000 classes."""
    return resnet((2, 2, 2, 2), is_bottleneck=False, classes=classes)


def resnet50(classes: int = 1000) -> nn.Sequential:
    """25.6 million parameters with 1,000 classes."""
    return resnet((3, 4, 6, 3), is_bottleneck=True, classes=classes)
