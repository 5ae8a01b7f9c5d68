// The layer's sources follow.
