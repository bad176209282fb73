"""What clients speak: requests of a dialect in shared words, and answers, streams and errors in the dialect's."""
