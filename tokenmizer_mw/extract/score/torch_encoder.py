"""A sentence model run by transformers, which computes with PyTorch.

Needs the extra ``embeddings``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertModel

from .encoder import Adapter, Encoder, Matrix


class TorchEncoder:
    """Computes the last layer of a sentence model as ``Encoder`` does, but faster. ``folder``: the model's directory;
    ``encoder``: the numpy version of the same model, whose tokenizer is used; ``adapter``: changes of the model's
    matrices."""

    def __init__(self, folder: Path, encoder: Encoder, adapter: Adapter) -> None:
        self.tokens, self.number = encoder.tokens, encoder.number
        model: Any = BertModel.from_pretrained(str(folder), add_pooling_layer=False, local_files_only=True)
        self._model = model.eval()
        weights = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, (tall, wide) in adapter.items():
                weights[name] += torch.from_numpy(tall @ wide)

    def read(self, tokens: Sequence[int], kinds: Sequence[int]) -> Matrix:
        """Return the output of the last layer for some tokens, one row per token. ``kinds``: as for ``Tokens.read``."""
        with torch.inference_mode():
            given = torch.tensor([list(tokens)]), torch.tensor([list(kinds)])
            found = self._model(input_ids=given[0], token_type_ids=given[1]).last_hidden_state
        return np.asarray(found[0].numpy(), np.float32)


__all__ = ["TorchEncoder"]
