"""Handle one chat call: from the request's bytes to the stored turn, and the background work after it."""
