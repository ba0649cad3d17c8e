"""The demonstration: real runs of the host on the mini set, without a GPU, a network or a trained model."""
