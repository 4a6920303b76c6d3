"""How labels of YOLO are found."""

from pathlib import Path

from called_packer import call_packer
from made_images import make_image, write_files


def test_classes_in_another_order_than_the_numbers_have_are_refused_without_a_command_that_swaps(
    tmp_path: Path,
) -> None:
    images = {f"s/images/{n}.png": make_image(n) for n in range(2)}
    labels = {f"s/labels/{n}.txt": f"{n} 0.5 0.5 0.2 0.2\n" for n in range(2)}
    names = {"s/data.yaml": "train: images\nnames: [ant, cow]\n", "order.txt": "cow\nant\n"}
    write_files(tmp_path, {**images, **labels, **names})
    order = "--classes", tmp_path / "order.txt"
    done = call_packer("pack", tmp_path / "s", tmp_path / "o", *order, code=2)
    assert "ant, cow" in done.stderr
    assert "packer pack" not in done.stderr
