"""The workshop: annotated overhead images in, refusal items with measured labels out."""
