"""The ways to read images that this project is compared with: each as its users would write it.

One module a peer, each with a `build` and, where the peer reads a format of its own, a `prepare`.
"""

from benchmarks.peers import (
    dali,
    data_loader,
    grain,
    huggingface,
    litdata,
    mosaic,
    spdl,
    webdataset,
)
from benchmarks.peers.peer import CROPS, Peer, Stored, Task, is_installed

__all__ = ["CROPS", "PEERS", "Peer", "Stored", "Task", "is_installed"]

PEERS = {
    "DataLoader, simplejpeg + cv2": Peer("torch", data_loader.with_simplejpeg),
    "DataLoader, simplejpeg reduced": Peer("torch", data_loader.with_simplejpeg_reduced),
    "DataLoader, Pillow": Peer("torch", data_loader.with_pillow),
    "webdataset, simplejpeg + cv2": Peer("webdataset", webdataset.build),
    "Grain, simplejpeg + cv2": Peer("grain", grain.build),
    "HF datasets, simplejpeg + cv2": Peer("datasets", huggingface.build, huggingface.prepare),
    "DALI (CPU), its ROI decoder": Peer("nvidia.dali", dali.Epochs, dali.prepare),
    "LitData, simplejpeg + cv2": Peer("litdata", litdata.build, litdata.prepare),
    "MosaicML, simplejpeg + cv2": Peer("streaming", mosaic.build, mosaic.prepare),
    "SPDL, simplejpeg + cv2": Peer("spdl", spdl.Epochs),
}
