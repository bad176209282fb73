"""One chat call: from the request's bytes to the turn that is stored, and the work behind it."""
