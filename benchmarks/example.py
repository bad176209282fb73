"""The example of the README: what a model receives of a short chat before a cut and after it.

python -m benchmarks.example            prints it
python -m benchmarks.example --write    writes it into the README as well
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.tokens import estimate

README: Final = Path(__file__).parent.parent / "README.md"
START: Final = "<!-- example: start -->"
END: Final = "<!-- example: end -->"
SETTINGS: Final = Settings(context_window=800, block_tokens=300, reminder_tokens=0)
"""A window that eleven messages fill."""

SHOWN: Final = 100
"""Most characters that are shown of a message."""

ENDS: Final = 2
"""How many messages are shown at the beginning and at the end of a transcript."""

_QUEUE: Final = """
```python
class Queue:
    def __init__(self, connection, table="jobs"):
        self._connection = connection
        self._table = table

    def put(self, kind, payload, due=None):
        with self._connection.transaction():
            self._connection.execute(
                f"INSERT INTO {self._table} (kind, payload, due) VALUES (%s, %s, coalesce(%s, now()))",
                (kind, dumps(payload), due),
            )

    def take(self):
        row = self._connection.execute(
            f"SELECT id, kind, payload, attempts FROM {self._table} WHERE due <= now() AND finished IS NULL"
            " ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED"
        ).fetchone()
        return Job(self, *row) if row is not None else None
```
"""

_IMPORTER: Final = """
```python
def read_prices(path):
    with path.open(encoding="latin-1", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter=";"), 2):
            try:
                yield Price(row["Artikel"], Decimal(row["Preis"].replace(",", ".")), parse_date(row["ab"]))
            except (KeyError, InvalidOperation, ValueError) as error:
                raise BrokenRow(path, number, str(error)) from error


def import_prices(path, session):
    known = {price.article: price for price in session.scalars(select(CurrentPrice))}
    for price in read_prices(path):
        current = known.get(price.article)
        if current is None or current.amount != price.amount:
            session.add(CurrentPrice.from_supplier(price))
    session.commit()
```
"""

_INVOICES: Final = """
```python
def render_invoice(order):
    lines = [Line(item.article, item.count, item.price) for item in order.items]
    page = environment.get_template("invoice.html").render(order=order, lines=lines)
    return HTML(string=page, base_url=str(TEMPLATES)).write_pdf()


@router.get("/orders/{number}/invoice.pdf")
def send_invoice(number: int, session: Session = Depends(open_session)):
    order = session.get(Order, number)
    if order is None:
        raise HTTPException(404)
    return Response(render_invoice(order), media_type="application/pdf")
```
"""

CHAT: Final = (
    "Build an order service for our shop. Use PostgreSQL for the orders, and never log customer data.",
    "PostgreSQL for the orders, and customer data stays out of the logs. I set up the project in `shop/`: FastAPI,"
    " SQLAlchemy, Alembic for migrations.",
    "Redis for the queue.",
    "Redis is the queue now: `shop/queue.py` has the worker, `tests/test_queue.py` four tests. They pass.",
    "Write the importer for the supplier's price list.",
    f"The importer is done: `shop/importer.py` reads the supplier's CSV, 40,000 rows in 3 seconds.{_IMPORTER}",
    "Operations won't run Redis on that host. Let's move the queue to PostgreSQL instead of Redis.",
    f"Moved: `shop/queue.py` takes jobs with FOR UPDATE SKIP LOCKED.{_QUEUE}One test fails: in test_retry a job that"
    " raised twice stays locked.",
    "Leave test_retry for tomorrow. Do the invoices as PDF now.",
    f"The invoices come out of `shop/invoices.py` with WeasyPrint; the totals are still missing.{_INVOICES}",
    "Good. Add the totals, with 19 % VAT.",
)
"""What the user and the assistant say in turn; the user begins."""


def write_example() -> str:
    """Return the chat as a client sends it and as the model receives it after a cut, as Markdown. Raises
    ``RuntimeError`` if the chat fits into the window, so that nothing is cut."""
    messages = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(CHAT)]
    with closing(SessionMemory.open("memory://", SETTINGS)) as memory:
        memory.record("shop", messages[:-1])
        cut = memory.shorten("shop", messages)
    if cut is None:
        raise RuntimeError("the chat fits the window of the example")
    block = re.sub(r"(?m)^<session-record \d+", "<session-record 433511972961", cut.block)
    block = re.sub(r"(?m)^</session-record \d+", "</session-record 882042613424", block)
    kept = [messages[place] for place in cut.kept]
    return "\n".join(
        (
            f"As a client sends it, {_cost(messages)} tokens:",
            "",
            "```text",
            *_ends(_lines(messages)),
            "```",
            "",
            f"As the model gets it, {_cost(kept, block)} tokens:",
            "",
            "```text",
            *block.splitlines(),
            *_lines(kept),
            "```",
        )
    )


def _cost(messages: Sequence[dict[str, str]], block: str = "") -> int:
    return sum(estimate(message["content"]) for message in messages) + estimate(block)


def _lines(messages: Sequence[dict[str, str]]) -> list[str]:
    return [f"{message['role']}: {_beginning(message['content'])}" for message in messages]


def _ends(lines: list[str]) -> list[str]:
    left_out = len(lines) - 2 * ENDS
    return [*lines[:ENDS], f"... {left_out} messages ...", *lines[-ENDS:]] if left_out > 0 else lines


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN].rsplit(' ', 1)[0]} ..."


def main() -> int:
    example = write_example()
    print(example)
    if "--write" in sys.argv[1:]:
        text = README.read_text(encoding="utf-8")
        before, rest = text.split(START)
        README.write_text(f"{before}{START}\n{example}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
