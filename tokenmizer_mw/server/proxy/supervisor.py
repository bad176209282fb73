"""The parent process that starts and stops worker processes."""

from __future__ import annotations

from uvicorn.supervisors import Multiprocess


class Supervisor(Multiprocess):
    """uvicorn's supervisor, extended to close the listening sockets when it stops its workers.

    A listening socket accepts connections as long as any process has it open. The supervisor waits for its workers, and
    a worker may finish a stream for as long as ``drain_seconds``. Without this class the kernel would accept
    connections in that time that nobody answers; with it they are refused as soon as the last worker has closed its
    copy.
    """

    def terminate_all(self) -> None:
        """Stop all workers, and close the supervisor's copies of the sockets."""
        super().terminate_all()
        for each in self.sockets:
            each.close()
