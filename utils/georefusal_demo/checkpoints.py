"""Tiny randomly initialised vision-language checkpoints on disk, for the host's own backends, made without a network.

Real architecture, processor, tokenizer and chat template; only the weights are noise, so a score says nothing. What
they show is that a checkpoint of that family can be loaded, asked and scored.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.core.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast, ProcessorMixin

    Made = tuple[PreTrainedModel, ProcessorMixin]

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIALS = (
    *(PAD, START, END),
    *("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),  # Qwen
    *("<img>", "</img>", "<IMG_CONTEXT>", "<video>"),  # InternVL
    "<image>",  # LLaVA
)
CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}
{%- for part in message.content %}{% if part.type == 'image' %}IMAGE
{%- elif part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif -%}
"""
"""ChatML, the form of three of the four families; IMAGE stands for the family's own placeholder."""

SIDE = 112
"""Largest image side that the encoders here are shown, pixels: few image tokens, so that a CPU answers at once."""

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "initializer_range": 0.4,  # large enough for question and image to change the reply
}
_VISION = {"hidden_size": 32, "intermediate_size": 64, "initializer_range": 0.4}
_VIT = _VISION | {"num_hidden_layers": 2, "num_attention_heads": 2}


@dataclass(frozen=True)
class Family:
    """How to make a checkpoint of one family, and how the host is told to run it on a CPU."""

    backend: str
    """The host's `--model`."""
    args: str
    """What its `--model_args` must say besides `pretrained=`."""
    image: str
    """The placeholder of an image in the chat template."""
    make: Callable[["PreTrainedTokenizerFast", str], "Made"]

    def model_args(self, checkpoint: Path) -> str:
        """Return the host's `--model_args` for a checkpoint of this family.

        Raises:
            ConfigError: the host would split the path, since it splits its arguments at commas.
        """
        if "," in str(checkpoint):
            raise ConfigError(f"{checkpoint} has a comma in it, which lmms-eval's --model_args cannot carry")
        return f"pretrained={checkpoint},{self.args}"


def _tokenizer() -> "PreTrainedTokenizerFast":
    """Return a byte-level BPE tokenizer trained on the prompts of this package; every text can be encoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(SPECIALS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([prompt.instruction for prompt in PROMPTS.values()], trainer)
    named = {"start_image": "<img>", "end_image": "</img>", "context_image": "<IMG_CONTEXT>", "video": "<video>"}
    extra = {f"{name}_token": token for name, token in named.items()}  # InternVL's processor asks for them by name
    return PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token=PAD, eos_token=END, extra_special_tokens=extra)


def _text(tokenizer: "PreTrainedTokenizerFast") -> dict[str, Any]:
    """Return the part of a configuration that all four language models share."""
    return _TEXT | {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.convert_tokens_to_ids(START),
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _qwen_ids(tokenizer: "PreTrainedTokenizerFast") -> dict[str, int]:
    """Return the token ids that a Qwen-VL configuration names."""
    names = ("image_pad", "video_pad", "vision_start", "vision_end")
    return {f"{n.removesuffix('_pad')}_token_id": tokenizer.convert_tokens_to_ids(f"<|{n}|>") for n in names}


def _qwen2_5_vl(tokenizer: "PreTrainedTokenizerFast", template: str) -> "Made":
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
    config = Qwen2_5_VLConfig(
        text_config=_text(tokenizer) | {"rope_parameters": rope},
        vision_config=_VISION | {"depth": 2, "num_heads": 2, "out_hidden_size": 32, "fullatt_block_indexes": [1]},
        **_qwen_ids(tokenizer),
    )
    images = Qwen2VLImageProcessor(min_pixels=56**2, max_pixels=SIDE**2)
    return Qwen2_5_VLForConditionalGeneration(config), Qwen2_5_VLProcessor(
        image_processor=images, tokenizer=tokenizer, video_processor=Qwen2VLVideoProcessor(), chat_template=template
    )


def _qwen3_vl(tokenizer: "PreTrainedTokenizerFast", template: str) -> "Made":
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2], "mrope_interleaved": True}
    config = Qwen3VLConfig(
        text_config=_text(tokenizer) | {"head_dim": 8, "rope_parameters": rope},
        vision_config=_VISION | {"depth": 2, "num_heads": 2, "out_hidden_size": 32, "deepstack_visual_indexes": [0]},
        **_qwen_ids(tokenizer),
    )
    images = Qwen2VLImageProcessor(patch_size=16, min_pixels=64**2, max_pixels=128**2)
    return Qwen3VLForConditionalGeneration(config), Qwen3VLProcessor(
        image_processor=images, tokenizer=tokenizer, video_processor=Qwen3VLVideoProcessor(), chat_template=template
    )


def _internvl(tokenizer: "PreTrainedTokenizerFast", template: str) -> "Made":
    from transformers import (
        GotOcr2ImageProcessor,
        InternVLConfig,
        InternVLForConditionalGeneration,
        InternVLProcessor,
        InternVLVideoProcessor,
        Qwen2Config,
    )

    size = {"height": SIDE, "width": SIDE}
    config = InternVLConfig(
        text_config=Qwen2Config(**_text(tokenizer)),
        vision_config=_VIT | {"image_size": (SIDE, SIDE), "patch_size": (14, 14)},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=16,
        downsample_ratio=0.5,
        tie_word_embeddings=False,
    )
    return InternVLForConditionalGeneration(config), InternVLProcessor(
        image_processor=GotOcr2ImageProcessor(size=size, crop_to_patches=False),
        tokenizer=tokenizer,
        video_processor=InternVLVideoProcessor(size=size),
        image_seq_length=16,
        chat_template=template,
    )


def _llava(tokenizer: "PreTrainedTokenizerFast", template: str) -> "Made":
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer.chat_template = template  # the backend asks the tokenizer, not the processor
    config = LlavaConfig(
        text_config=LlamaConfig(**_text(tokenizer)),
        vision_config=CLIPVisionConfig(**_VIT, image_size=SIDE, patch_size=14, projection_dim=32),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="default",
    )
    return LlavaForConditionalGeneration(config), LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
    )


_CPU = "device=cpu,device_map=cpu"
_QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
FAMILIES: dict[str, Family] = {
    "internvl": Family("internvl_hf", _CPU, "<IMG_CONTEXT>", _internvl),
    "llava": Family("llava_hf", _CPU, "<image>", _llava),
    # these two backends override the processor's own limits, and would enlarge every tile to 448 x 448
    "qwen2_5_vl": Family("qwen2_5_vl", f"{_CPU},min_pixels={56**2},max_pixels={SIDE**2}", _QWEN_IMAGE, _qwen2_5_vl),
    "qwen3_vl": Family("qwen3_vl", f"{_CPU},min_pixels={64**2},max_pixels={128**2}", _QWEN_IMAGE, _qwen3_vl),
}


def make_checkpoint(family: str, directory: Path, seed: int = 0) -> Path:
    """Return `directory`, which then holds a checkpoint of that family (under 1 MB); equal seeds give equal files.

    Raises:
        ConfigError: no such family.
    """
    import torch
    from transformers.utils import logging

    if family not in FAMILIES:
        raise ConfigError(f"no checkpoint family is called {family!r}; there are: {', '.join(FAMILIES)}")
    recipe = FAMILIES[family]
    logging.disable_progress_bar()
    torch.manual_seed(seed)
    tokenizer = _tokenizer()
    model, processor = recipe.make(tokenizer, CHAT_TEMPLATE.replace("IMAGE", recipe.image))
    model.generation_config.update(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as unfinished:
        made = Path(unfinished, directory.name)
        model.save_pretrained(made)
        processor.save_pretrained(made)
        shutil.rmtree(directory, ignore_errors=True)
        made.rename(directory)
    return directory
