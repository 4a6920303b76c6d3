"""What a `CUDAPrefetcher` uses of a loader."""

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from reader.errors import ArgumentError
from reader.gpu_decode.decoders import choose
from reader.loader.arguments import LoaderConfig
from reader.loader.as_torch import LikeDataLoader
from reader.loader.build import Parts

if TYPE_CHECKING:
    from reader.gpu_decode.libraries import JPEGDecoder


class ForPrefetcher(LikeDataLoader):
    def __init__(self, config: LoaderConfig, parts: Parts) -> None:
        super().__init__(config, parts)
        self.map_batch = config.map_batch
        self.batch_function = self._epochs.map_batch  # the same, with seeds for each batch
        self.decode = config.decode
        self.decode_share = self._epochs.pipeline.share
        self.channels = None if config.map_sample else parts.dataset.channels  # None: unknown
        places = [at for at, (view, *_) in enumerate(parts.schema.fields) if view.is_image]
        self.image_places = None if config.collate_fn else places
        self.delivery = parts.delivery
        self.is_delivered = config.collate_fn is not None  # it has the output's images already

    @property
    def is_endless(self) -> bool:
        """Whether an iteration has no end, and the next one continues where it stopped."""
        return self._epochs.plan.epochs is None

    def use_decoder(self, device: Any, wanted: "str | JPEGDecoder | None" = None) -> None:
        """Choose the decoder for images that workers do not decode; `CUDAPrefetcher` calls this.

        Raises:
            ArgumentError: a decoder is `wanted`, but workers decode all images, or it is unknown.
            ReaderError: ``decode="gpu"``, and no decoder works on `device`.
        """
        if self.decode == "cpu":
            if wanted is not None:
                raise ArgumentError('decoder= needs a Loader with decode="gpu" or decode="auto".')
            return
        decoder = choose(device, wanted)
        if self.decode == "gpu":
            decoder.require()
        self._epochs.attach(decoder)

    def page_lock(self, cuda: Any, cores: Set[int] = frozenset()) -> None:
        """Page-lock the batches' memory for a GPU, once; `CUDAPrefetcher` calls this.

        Keep a reference to each batch until your own `non_blocking` copies of it have ended.
        Workers run on `cores`, those near the GPU, if there is one for each.
        """
        with self._epochs.lock:
            self._epochs.check_open()
            if not self._is_pinned:
                self._is_pinned = True
                self._epochs.pipeline.pin(cuda, cores)
