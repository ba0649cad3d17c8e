"""Ids, fingerprints and perceptual hashes of items."""

import hashlib
import hmac
import unicodedata

import cv2
import numpy as np

from georefusal_build.arrays import U8
from georefusal_build.kernels.tones import luma

ID_DIGITS = 10

_SIDE, _KEPT = 32, 8


def row_key(base_id: str, lever_id: str, attempt: int) -> str:
    """Return what names an item inside a build, on any machine.

    >>> row_key("scene@0,0,800x800|ship|whole", "im_occlude_low", 0)
    'scene@0,0,800x800|ship|whole|im_occlude_low|0'
    """
    return f"{base_id}|{lever_id}|{attempt}"


def item_id(set_name: str, key: str, salt: str, digits: int = ID_DIGITS) -> str:
    """Return `<set>-` and the first digits of HMAC-SHA1(salt, key): opaque to anybody without the salt.

    >>> item_id("A", "scene@0,0,800x800|ship|whole|im_occlude_low|0", "a salt of its own")
    'A-576e7c8738'
    """
    digest = hmac.new(salt.encode(), key.encode(), hashlib.sha1).hexdigest()
    return f"{set_name}-{digest[:digits]}"


def pixel_sha256(pixels: U8) -> str:
    """Return the digest of the pixels in RGB order with their shape; two encodings of one image agree on it."""
    return hashlib.sha256(_content(pixels)).hexdigest()


def fingerprint(pixels: U8, question: str) -> str:
    """Return the digest of image and question, unique in a release: pixels, shape, a zero byte, the question in NFC."""
    text = unicodedata.normalize("NFC", question).encode()
    return hashlib.sha256(_content(pixels) + b"\0" + text).hexdigest()


def phash(pixels: U8) -> str:
    """Return a 64-bit perceptual hash as 16 hex digits; images that look alike differ in few bits.

    Signs of the lowest 8 x 8 frequencies of a 32 x 32 copy against their median, the constant one left out of it.
    Source: Zauner, Implementation and Benchmarking of Perceptual Image Hash Functions, 2010.
    """
    small = cv2.resize(luma(pixels), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lowest = np.asarray(cv2.dct(small.astype(np.float32)))[:_KEPT, :_KEPT].ravel()
    bits = lowest > np.median(lowest[1:])
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"


def _content(pixels: U8) -> bytes:
    shape = ",".join(map(str, pixels.shape)).encode()
    return np.ascontiguousarray(pixels).tobytes() + shape
