"""How inspect_ai is given text and image, whatever the benchmark."""

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

if TYPE_CHECKING:
    from PIL.Image import Image


def one_turn(instruction: str, image: "Image", question: str) -> list[ChatMessageUser]:
    """Return one user turn with the image between instruction and question.

    An image that is shown as it is goes out as the bytes of its file.
    """
    file = BytesIO()
    image.save(file, format="PNG")
    uri = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    return [
        ChatMessageUser(content=[ContentText(text=instruction), ContentImage(image=uri), ContentText(text=question)])
    ]
