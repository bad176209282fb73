"""The stored transcript as a tree of messages, and how messages that a client sends again are found in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as iterate
from typing import Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.session.resent import (
    SUMMARY_WITHIN,
    Position,
    ResentHistory,
    ResentMessages,
    Spelling,
    recent_spelling_of,
    run_back,
    run_on,
    text_digest,
)

_MATCHED_BEFORE: Final = 2
_PART_LEAST: Final = 4
_PART_MOST: Final = 64
_PLACES_MAX: Final = 8
_PRESERVED_MAX: Final = 64
"""Most messages that a client may keep after its summary of the messages before them."""


@dataclass(slots=True)
class Transcript:
    """The messages of a session by digest, to tell resent messages from new ones.

    A client may go back and continue from an earlier message, so the transcript is a tree. All lists are indexed by
    stored message:

    - ``digests``: recognises a message that a client resends unchanged.
    - ``parents``: index of the message that a message follows, -1 for none.
    - ``depths``: number of messages before a message on its branch.
    - ``spellings``: recognises a message that a client resends in another form (see ``Spelling``).
    """

    digests: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    spellings: list[Spelling] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    _places: dict[str | Spelling, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.digests)

    @classmethod
    def of(cls, digests: list[str], parents: list[int], spellings: list[Spelling]) -> Transcript:
        """Return a transcript of stored messages, oldest first; each list has one item for each message.

        ``parents``: index of the message that a message follows, -1 for none. The other lists are described at the
        class. Raises ``ValueError`` if the lists differ in length.
        """
        transcript = cls()
        for mark, parent, spelling in zip(digests, parents, spellings, strict=True):
            transcript.add(mark, parent, spelling)
        return transcript

    def copy(self) -> Transcript:
        """Return a copy of the transcript; messages added to one are not in the other."""
        return Transcript(
            list(self.digests), list(self.parents), list(self.spellings), list(self.depths), dict(self._places)
        )

    def add(self, mark: str, parent: int, message: Message | Spelling) -> None:
        """Append a message after the message at index ``parent`` (-1: after none). ``mark``: digest of the message.
        ``message``: the message, or its ``Spelling``."""
        spelling = recent_spelling_of(message) if isinstance(message, Message) else message
        place = len(self.digests)
        name: str | Spelling
        for name in (mark, spelling):
            self._places[name] = (*self._places.get(name, ())[1 - _PLACES_MAX :], place)
        self.digests.append(mark)
        self.parents.append(parent)
        self.spellings.append(spelling)
        self.depths.append(self.depths[parent] + 1 if parent >= 0 else 0)

    def first_new(
        self, messages: Sequence[Message], *, part: bool = False, resent: ResentMessages | None = None
    ) -> Position:
        """Compare a resent chat with the stored one. Return two numbers: the index of the first new message in
        ``messages`` (``len(messages)`` if none is new), and the index of the stored message that it follows (-1 for
        none). If no message is known, these are 0 and the index of the newest stored message: the new messages continue
        the session.

        Clients resend the whole transcript, trim it, change its form, or send only new messages. The search starts at
        the end; for a whole transcript its cost is that of the new messages.

        - ``part``: ``messages`` are only the newest ones; then an assistant message always counts as new.
        - ``resent``: the same messages with digests that were computed before; ``None``: they are computed here.
        """
        resent = ResentMessages(messages) if resent is None else resent
        for index in range(len(messages) - 1, -1, -1):
            if part and resent.role(index) is Role.ASSISTANT:
                continue
            seen: tuple[int, ...] = ()
            for respelled in (False, True):
                places = (
                    self._places_by_spelling(resent, index) if respelled else self._places.get(resent.mark(index), ())
                )
                for place in reversed(places):
                    if place not in seen and self._continues(resent, index, place, part):
                        return (index + 1, place) if part else self._further(resent, index + 1, place)
                seen = places
        start, place = (0, -1) if part else self._further(resent, 0, -1)
        return (start, place) if start else (0, len(self.digests) - 1)

    def holds(self, messages: Sequence[Message]) -> bool:
        """Whether the session has all of ``messages`` one after the other, anywhere on a branch; true for none."""
        resent = ResentMessages(messages)
        end = len(messages) - 1
        return not messages or any(
            self.depths[place] >= end and self._same_before(resent, end, place, end)
            for place in self._places.get(resent.mark(end), ())
        )

    def locate(self, resent: ResentMessages, start: int, place: int) -> ResentHistory:
        """Return which stored message each known message of a resent transcript is. ``start`` and ``place`` are the
        result of ``first_new``: how many messages are known, and the index of the stored message that the last of them
        is. A message that differs from the stored one at its place is noted in ``changed`` of the result."""
        found = ResentHistory(places := [-1] * start)
        changed: Position | None = None
        index = start - 1
        while index >= 0 and place >= 0:
            if self._same(resent, index, place):
                places[index] = place
                index, place = index - 1, self.parents[place]
                continue
            before = self._before(resent, index, place)
            if before is not None:
                self._place_run(resent, (index, place), before, found)
                index, place = before
                continue
            if behind := self._behind_summary(resent, index, place):
                for at, stored in behind.items():
                    places[at] = stored
                index = min(behind) - 1
                continue
            changed = index, self.parents[place]
            if self.depths[place] != index:
                break
            index, place = index - 1, self.parents[place]
        return ResentHistory(places, found.holders, changed)

    def same_words(self, resent: ResentMessages, end: int, place: int) -> bool:
        """Whether the user's text before message ``end`` of a resent transcript equals the user's text up to stored
        message ``place``. A transcript whose beginning was trimmed may have less of it."""
        words = "".join(resent.text(index) for index in range(end) if resent.spelling(index).side == "u")
        left = len(words)
        while place >= 0 and left:
            spelling = self.spellings[place]
            if spelling.side == "u" and spelling.length:
                if spelling.length > left or text_digest(words[left - spelling.length : left]) != spelling.text:
                    return False
                left -= spelling.length
            place = self.parents[place]
        return not left

    def indexes(self, start: int, place: int, count: int, preserved: Mapping[int, int] | None = None) -> list[int]:
        """Return the stored indexes of the first ``count`` messages of a resent transcript.

        ``start`` and ``place`` are the result of ``first_new``, ``preserved`` that of ``find_preserved`` (``None`` as
        ``{}``). Other messages from ``start`` on get the next free indexes. Assumes that the client joined or split no
        messages.
        """
        known: list[int] = []
        for _ in range(start):
            known.append(place)
            place = self.parents[place] if place >= 0 else -1
        stored, free = preserved or {}, iterate(len(self.digests))
        news = (stored[index] if index in stored else next(free) for index in range(start, count))
        return [*reversed(known), *news][:count]

    def find_preserved(self, resent: ResentMessages, start: int, place: int) -> dict[int, int]:
        """Return which messages from before a summary a client kept after it, as a mapping from their indexes in
        ``resent`` to the indexes of the same stored messages. Empty if message ``start`` is no summary.

        ``place``: index of the stored message that the preserved ones end with. The newest message, and a reply to the
        summary, are never preserved messages.
        """
        first = start + 1
        if first >= len(resent) or resent.role(first) is not Role.ASSISTANT or not resent.is_summary(start):
            return {}
        for end in range(min(len(resent) - 2, start + _PRESERVED_MAX), start, -1):
            if (found := self._stored_run(resent, first, end, place)) is not None:
                return found
        return {}

    def _stored_run(self, resent: ResentMessages, first: int, last: int, place: int) -> dict[int, int] | None:
        """Return the stored indexes of the resent messages ``first`` to ``last`` if these are the stored messages up to
        ``place``; else ``None``."""
        found: dict[int, int] = {}
        for index in range(last, first - 1, -1):
            if place < 0 or not self._same(resent, index, place):
                return None
            found[index] = place
            place = self.parents[place]
        return found

    def _behind_summary(self, resent: ResentMessages, index: int, place: int) -> dict[int, int]:
        """Return the messages up to ``index`` that a client kept after the summary at ``place``, in the form that
        ``find_preserved`` returns; empty if there are none. The message before the first of them is the summary."""
        before = self.parents[place]
        if before < 0 or not self._same(resent, index, before):  # nearly always, and cheaper than the marks below
            return {}
        mark, first_marks = self.digests[place], resent.first_marks
        for start in range(max(0, index - _PRESERVED_MAX), min(index, SUMMARY_WITHIN)):
            if first_marks[start] == mark:
                return self._stored_run(resent, start + 1, index, before) or {}
        return {}

    # -- one message ---------------------------------------------------------------------------------------

    def _places_by_spelling(self, resent: ResentMessages, index: int) -> tuple[int, ...]:
        """Return the indexes of the stored messages with the same spelling as message ``index``: that message may be
        one of them in another form. ``()`` if there are none, or if the message has no text, tool calls or results."""
        spelling = resent.spelling(index)
        comparable = spelling.length or spelling.calls or spelling.results
        return self._places.get(spelling, ()) if comparable else ()

    def _same(self, resent: ResentMessages, index: int, place: int) -> bool:
        """Whether message ``index`` is the stored message at ``place``, perhaps in another form."""
        if resent.mark(index) == self.digests[place]:
            return True
        return resent.spelling(index).repeats(self.spellings[place])

    def _continues(self, resent: ResentMessages, index: int, place: int, part: bool) -> bool:
        """Whether message ``index`` is the stored message at ``place``.

        In a history from its very start the few messages before it must be the same. A part of a history may just as
        well be something new that repeats what was said before ("yes", "done"). So all messages before it must be the
        same, and it must be long or reach to the newest message. A history that is longer than what the session has
        before ``place`` is the same only if a client divided messages, so all of it is compared: otherwise a chat that
        repeats itself would be taken for an earlier part of itself.
        """
        if self.depths[place] == index and not part:
            return self._same_before(resent, index, place, _MATCHED_BEFORE)
        if index + 1 < _PART_LEAST and place != len(self.digests) - 1:
            return False
        return self._same_before(resent, index, place, index if self.depths[place] < index else _PART_MOST)

    # -- going back and going on ---------------------------------------------------------------------------

    def _same_before(self, resent: ResentMessages, index: int, place: int, most: int) -> bool:
        """Whether the ``most`` messages before message ``index`` are the stored messages before ``place``."""
        last, index, place = index - most, index - 1, self.parents[place]
        while index >= max(0, last):
            if place >= 0 and self._same(resent, index, place):
                index, place = index - 1, self.parents[place]
            elif (before := self._before(resent, index, place)) is not None:
                index, place = before
            elif place >= 0 and (behind := self._behind_summary(resent, index, place)):
                index = min(behind) - 1
            else:
                return False
        return True

    def _before(self, resent: ResentMessages, index: int, place: int) -> Position | None:
        """Compare the messages of one side that end with message ``index`` with the stored ones that end at ``place``,
        however they are divided. Returns what stands before both if they are the same, else ``None``.

        A client may leave out tool calls with their results, all that stand there; it may not add any.
        """
        run, own = run_back(resent, index), resent.spelling(index)
        left, calls = len(run.text), []
        while place >= 0:
            spelling = self.spellings[place]
            if spelling.length:
                if spelling.side != run.side or not left:
                    break
                is_own = left == len(run.text) and spelling.length == own.length
                text = own.text if is_own else text_digest(run.text[max(0, left - spelling.length) : left])
                if text != spelling.text:
                    return None
                left -= spelling.length
            calls += [spelling.calls] * bool(spelling.calls)
            place = self.parents[place]
        same = not left and (
            not run.calls or run.calls == calls or (run.index < 0 and calls[: len(run.calls)] == run.calls)
        )
        return (run.index, place) if same else None

    def _place_run(self, resent: ResentMessages, last: Position, before: Position, found: ResentHistory) -> None:
        """Note in ``found`` which stored messages the messages of a run are that ``_before`` has compared."""
        spans: list[Position] = []  # where a message of the transcript begins in the text of the run, and its place
        left, place = 0, last[1]
        while place != before[1]:
            left -= self.spellings[place].length
            spans.append((left, place))
            place = self.parents[place]
        begins = 0
        starts: list[Position] = []
        for index in range(last[0], before[0], -1):
            begins -= resent.spelling(index).length
            starts.append((begins, index))
            if (at := next((place for start, place in spans if start <= begins), None)) is not None:
                found.places[index] = at
        for start, place in spans:
            if (at := next((index for begins, index in starts if begins <= start), None)) is not None:
                found.holders[place] = at

    def _further(self, resent: ResentMessages, start: int, place: int) -> Position:
        """Return ``start`` and ``place``, moved forward over messages that the client changed in form."""
        if place == len(self.digests) - 1:  # nothing follows the newest message
            return start, place
        while start < len(resent):
            steps = (self._behind_run(resent, start, child) for child in self._children(place))
            found = next((step for step in steps if step is not None), None)
            if found is None:
                break
            start, place = found
        return start, place

    def _children(self, place: int) -> list[int]:
        """Return the stored messages that follow the one at ``place``, the newest first."""
        children: list[int] = []
        after = place + 1
        while after < len(self.parents):
            try:
                after = self.parents.index(place, after) + 1
            except ValueError:
                break
            children.insert(0, after - 1)
        return children

    def _behind_run(self, resent: ResentMessages, start: int, place: int) -> Position | None:
        """Compare the messages of one side from ``start`` on with the stored ones from ``place`` on, however they are
        divided. Returns ``start`` and ``place`` after the last message end up to which they are the same; ``None`` if
        there is none. A tool result that differs counts as new."""
        own, known = resent.spelling(start), self.spellings[place]
        if resent.mark(start) == self.digests[place] or (own == known and not own.silent):
            return start + 1, place
        text, ends = run_on(resent, start)
        done, found = 0, None
        calls: list[str] = []
        following = [place]
        while following and text:
            place = following[0]
            known = self.spellings[place]
            joined = text[done : done + known.length]
            if known.results or known.side != own.side or (known.length and text_digest(joined) != known.text):
                break
            done += known.length
            calls += [known.calls] * bool(known.calls)
            if known.length and done in ends and ends[done][1] == calls:
                found = ends[done][0], place
            following = self._children(place)
        return found
