"""The process that starts and ends worker processes."""

from __future__ import annotations

from uvicorn.supervisors import Multiprocess


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which lets go of the listening sockets when it tells its workers to end.

    A listening socket accepts connections as long as any process holds it. The supervisor waits for its workers, and
    one of them may finish a stream for as long as ``drain_seconds``. Clients that connected in that time were accepted
    by the kernel and never answered; now they are refused as soon as the last worker has closed its copy.
    """

    def terminate_all(self) -> None:
        """End all workers, and close the supervisor's copies of the sockets."""
        super().terminate_all()
        for each in self.sockets:
            each.close()
