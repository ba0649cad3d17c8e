"""Asks a model every question of prompts.jsonl and writes replies.jsonl; stop it at any time and start it again.

    python example.py MODEL

Only `load` knows the model. As it stands it suits a checkpoint that transformers can load: a folder or a Hub id.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def load(model: str) -> Callable[[dict[str, Any]], str]:
    """Return a function that answers one line of prompts.jsonl. For a model of another kind, replace the body."""
    from PIL import Image
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(model)
    network = AutoModelForImageTextToText.from_pretrained(model, device_map="auto", dtype="auto").eval()

    def ask(item: dict[str, Any]) -> str:
        # a model without a chat template takes item["prompt"], one text, and item["image"]
        text = processor.apply_chat_template(item["messages"], add_generation_prompt=True)
        images = [Image.open(item["image"]).convert("RGB")] if item["image"] else None
        inputs = processor(text=[text], images=images, return_tensors="pt").to(network.device, network.dtype)
        tokens = network.generate(**inputs, max_new_tokens=1024, do_sample=False)
        new = tokens[:, inputs["input_ids"].shape[1] :]
        return str(processor.batch_decode(new, skip_special_tokens=True)[0])

    return ask


def main() -> None:
    """Append one line {"id", "text"} to replies.jsonl for each prompt that has none yet."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ask = load(sys.argv[1])
    os.chdir(Path(__file__).parent)  # image paths are relative to this folder
    prompts = [json.loads(line) for line in Path("prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    replies = Path("replies.jsonl")
    replies.touch()
    done = {json.loads(line)["id"] for line in replies.read_text(encoding="utf-8").splitlines()}
    with replies.open("a", encoding="utf-8") as out:
        for number, item in enumerate(prompts, 1):
            if item["id"] not in done:
                about = {key: item[key] for key in ("id", "frame") if key in item}
                out.write(json.dumps(about | {"text": ask(item)}) + "\n")
                out.flush()  # what was paid for is kept
                print(f"\r{number} of {len(prompts)}", end="", flush=True)
    print(f"\n{replies} is complete")


if __name__ == "__main__":
    main()
