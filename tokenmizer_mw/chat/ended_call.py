"""Count the tokens of a call that ended: what was sent, and what the client would have sent. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.costs.net import Sent
from tokenmizer_mw.context.costs.prices import PUBLISHED
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.context.tokens.messages import MESSAGE_TOKENS
from tokenmizer_mw.context.window import Rewrite, sent_before
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.saving import StageSaving
from tokenmizer_mw.wire.dialect import ChatRequest, Reply

if TYPE_CHECKING:
    from tokenmizer_mw.saving.compress.requests import Moved

_MARK: Final = '"cache_control"'


@dataclass(frozen=True, slots=True)
class Booked:
    """A call as the shells know it. ``request`` is the client's; ``rewrite`` is how it was cut, ``stages`` what else
    was taken out of it, and ``moved`` whether old outputs gave way just now; ``answered``: the provider was not
    asked."""

    request: ChatRequest
    reply: Reply | None
    rewrite: Rewrite | None = None
    stages: Sequence[StageSaving] = ()
    answered: bool = False
    moved: Moved | None = None


def sent_of(call: Booked, counter: MessageCounter, elapsed: float | None) -> Sent:
    """The call in tokens, ``elapsed`` seconds after the one before it in its session (``None``: it is the first).

    What the call before had sent, too, ends where the model spoke last: its answer is new to a provider's cache.
    """
    request, reply, rewrite = call.request, call.reply, call.rewrite
    sent = Sent(
        request.model,
        elapsed=elapsed,
        usage=reply.usage if reply is not None else {},
        output=counter.count(reply.message) if reply is not None and reply.message is not None else 0,
        marked=_MARK in request.text,
        cut=rewrite is not None,
        stages=call.stages,
        answered=call.answered,
    )
    if sent.told and not sent.changed:
        return sent
    before = list(accumulate(counter.request_counts(request), initial=counter.text(request.overhead)))
    known = before[sent_before(request)]
    ours, ours_known = before[-1], known
    if rewrite is not None:
        ours, ours_known = _cut(request, rewrite, before, counter)
    gone = sum(stage.tokens_before - stage.tokens_after for stage in call.stages)
    same = ours_known - gone
    if call.moved is not None:
        same = min(same, ours - before[-1] + before[call.moved.message] - call.moved.left_out)
    return replace(sent, ours=max(0, ours - gone), client=before[-1], ours_known=max(0, same), client_known=known)


def _cut(request: ChatRequest, rewrite: Rewrite, before: Sequence[int], counter: MessageCounter) -> tuple[int, int]:
    """Tokens of the request as it was cut, and how many of them the call before had sent, too: of a cut that was made
    just now, only what stands in front of it."""
    roles = request.messages.roles
    stay = [at for at in range(request.prefix, rewrite.keep_from) if roles[at] is Role.SYSTEM]
    reminder = rewrite.reminder.tokens if rewrite.reminder is not None else 0
    put = counter.text(rewrite.block) + MESSAGE_TOKENS + sum(before[at + 1] - before[at] for at in stay)
    head = before[request.prefix]
    ours = head + put + reminder + before[-1] - before[rewrite.keep_from]
    if rewrite.made:
        return ours, head if PUBLISHED.caching(request.model).anywhere else 0
    return ours, max(head, ours - reminder - before[-1] + before[max(rewrite.keep_from, sent_before(request))])
