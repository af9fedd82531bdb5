"""Images of video frames, of their planes."""
