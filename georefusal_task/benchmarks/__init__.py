"""One module per benchmark: prompt, score of one reply, summary of all rows."""
