"""What finished runs say: read, compared, ranked, planned and packed, without a model, a GPU or a network."""
