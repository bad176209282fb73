"""An inverted index over the passages of a session's messages, which grows as messages are added. Pure.

Ranking is BM25 (Robertson and Zaragoza, 2009) over passages. Rare terms are read first; after ``_POSTINGS_MAX``
entries, the remaining, frequent terms count only for the best passages so far. That bounds the time of a query whatever
the length of the session. With vectors of passages and query, passages are ranked by words, by meaning, and by the
meaning of their neighbourhood; a weighted sum of scaled scores fuses these rankings (Bruch, Gai and Ingber, ACM TOIS
2023). Ranking by words works well for long passages. Chat messages are short and questions use other words, so meaning
gets more weight.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.recall.passages import Passage, index_terms, is_function_word, split_passages

if TYPE_CHECKING:
    from tokenmizer_mw.context.recall.vectors import Matrix, PassageVectors

Weights = tuple[float, float, float]
"""Weights of the rankings by words, by meaning, and by the meaning of a passage together with its neighbours."""

LONG: Final[Weights] = (1.0, 0.3, 0.2)
SHORT: Final[Weights] = (0.5, 1.0, 0.4)
"""The weights for sessions with long passages, and for those with short ones."""

DEPTH: Final = 40
"""Only this many first items of each ranking count."""


def fuse_rankings(rankings: Sequence[Mapping[int, float]], weights: Sequence[float]) -> dict[int, float]:
    """Return the items of all rankings with their fused scores, best first. ``weights``: the weight of each ranking.

    Each ranking has positive scores, best first, and is scaled so that its best item has 1. If it is longer than
    ``DEPTH``, the last item that counts has 0.
    """
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for item, share in _scale_scores(ranking).items():
            scores[item] = scores.get(item, 0.0) + weight * share
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _scale_scores(ranking: Mapping[int, float]) -> dict[int, float]:
    """Return the first ``DEPTH`` items of a ranking, with scores scaled so that the best one has 1. The last one has 0
    if the ranking is longer; else its score keeps its proportion to the best."""
    counted = list(ranking.items())[:DEPTH]
    if not counted:
        return {}
    least = counted[-1][1] if len(ranking) > DEPTH else 0.0
    span = counted[0][1] - least
    return {item: (score - least) / span if span > 0 else 1.0 for item, score in counted}


PASSAGES_MAX: Final = 20_000
"""An index holds this many passages by default; the oldest are dropped."""

HITS_MAX: Final = 40
"""A query finds at most this many passages."""

_MESSAGE_CHARACTERS: Final = 200_000
"""Of a longer message only the beginning and the end are indexed, half of this each."""
_QUERY_CHARACTERS: Final = 4_000
_QUERY_TERMS: Final = 64
_POSTINGS_MAX: Final = 4_000
_RESCORED: Final = 100
_SATURATION: Final = 1.2
_LENGTH: Final = 0.9
_NEIGHBOUR: Final = 0.15
"""Share of its better neighbour's score that a passage gets: an answer often stands beside the words of a question."""
_SHORT_NEIGHBOUR: Final = 0.8
"""Share of its better neighbour's score that a passage gets in a session with short passages."""
_SHORT_TERMS: Final = 40
"""The passages of a session count as short if they have fewer terms than this on average."""
_RELEVANT: Final = 0.1
"""Share of the best score below which a passage is no hit."""
_FUNCTION_WORD: Final = 0.5
"""Factor for the weight of a function word. In a short session, some function words are as rare as the words that a
question is about."""
_ROLE_WEIGHTS: Final = {"user": 1.2, "tool": 0.8}
_SPARE: Final = 1.25
"""An index is rebuilt without its oldest passages when it holds this many times its maximum."""


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that was found.

    - ``number``, ``role``: number and speaker of its message.
    - ``place``: order of the passage in the session; neighbours differ by 1.
    - ``score``: positive; compares hits of one query only.
    - ``weights``: the query's terms and their weights.
    - ``head``: first lines of the table or code block that the passage is from, "" if it begins with them or is from
      neither.
    - ``similarity``: cosine of the vectors of query and passage; 0 without vectors.
    """

    number: int
    role: str
    text: str
    place: int
    score: float
    weights: Mapping[str, float] = field(default_factory=dict)
    head: str = ""
    similarity: float = 0.0


@dataclass(slots=True)
class _Entry:
    """A message in the index: its number in the session, its speaker, its indexed text, and the position of its first
    passage among all passages (``first``)."""

    number: int
    role: str
    text: str
    first: int


@dataclass(slots=True)
class _Posting:
    """Where a term occurs: ``places``, the ascending positions of the passages that contain it, and ``counts``, how
    often each of these contains it (at most 255)."""

    places: array[int] = field(default_factory=lambda: array("I"))
    counts: array[int] = field(default_factory=lambda: array("B"))


class PassageIndex:
    """Search index over the passages of one session, at most ``passages_max``. Not thread-safe: the owner holds a lock.

    Messages are added in the order of their numbers. A message whose number was added before is ignored.
    """

    def __init__(self, *, passages_max: int = PASSAGES_MAX) -> None:
        self._most = passages_max
        self._entries: list[_Entry] = []
        self._passages: list[Passage] = []
        self._owners = array("I")
        self._lengths = array("I")
        self._total = 0
        self._postings: dict[str, _Posting] = {}
        self._removed: set[int] = set()
        self._vectors: PassageVectors | None = None
        self._without_vector: list[int] = []
        self.restored = False
        """Whether stored vectors were already loaded (``restore_vectors``)."""
        self._beside: Mapping[str, int] = {}

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def last(self) -> int:
        """The number, in the session, of the message that was added last; 0 when the index is empty. Messages that were
        taken out of the results (``remove``) count."""
        return self._entries[-1].number if self._entries else 0

    def add(self, number: int, role: str, text: str) -> None:
        """Index a message: its number in the session, its speaker, and its text.

        Does nothing unless ``number`` is above ``last``: add messages in order. Of a text of more than 200,000
        characters, the first and the last 100,000 are indexed. If the index then has too many passages, the oldest
        messages are dropped.
        """
        if number <= self.last:
            return
        if len(text) > _MESSAGE_CHARACTERS:
            half = _MESSAGE_CHARACTERS // 2
            text = f"{text[:half]}\n\n{text[-half:]}"
        self._entries.append(_Entry(number, role, text, len(self._passages)))
        for passage in split_passages(text):
            self._add_passage(passage, text)
        if len(self._passages) > max(1, self._most) * _SPARE:
            self._drop_oldest()

    def remove(self, number: int) -> None:
        """Leave the message with this number out of all search results from now on. Its words still count for how rare
        a word is. A number that is not in the index has no effect."""
        self._removed.add(number)

    def beside(self, texts: Iterable[str]) -> PassageIndex:
        """Return a copy of the index, for one search, that also counts the words of ``texts``, so that these words
        weigh less. The passages of ``texts`` are not found."""
        found = copy(self)
        passages = (text[one.start : one.end] for text in texts for one in split_passages(text))
        found._beside = Counter(term for passage in passages for term in set(index_terms(passage)))
        return found

    def weight(self, word: str) -> float:
        """Return the weight of ``word`` (a positive number): the fewer passages contain it, the higher; highest for a
        word that none contains. ``word`` is a search term as ``index_terms`` returns it, such as a casefolded word."""
        posting = self._postings.get(word)
        return self._idf(len(posting.places) if posting is not None else 0)

    def without_vector(self, most: int) -> list[str]:
        """Return the texts of the newest ``most`` passages that have no vector, newest first; equal texts once."""
        return list(dict.fromkeys(map(self._text, self._without_vector[: -most - 1 : -1])))

    def put_vectors(self, vectors: Mapping[str, Matrix]) -> None:
        """Give vectors to the passages that have none. ``vectors``: vectors by the text of the passage; those of
        unknown passages are ignored. All have length one and the same number of dimensions."""
        if not vectors:
            return
        from tokenmizer_mw.context.recall.vectors import PassageVectors  # without a sentence model, numpy is not needed

        if self._vectors is None:
            self._vectors = PassageVectors(len(next(iter(vectors.values()))))
        left = []
        for place in self._without_vector:
            vector = vectors.get(self._text(place))
            if vector is None:
                left.append(place)
            else:
                self._vectors.put(place, vector)
        self._without_vector = left

    def restore_vectors(self, vectors: Mapping[bytes, Matrix]) -> None:
        """Give vectors that a store kept to the passages that have none, and set ``restored``. ``vectors``: vectors by
        the digest of the passage's text (``passage_digest``); those of unknown passages are ignored."""
        self.restored = True
        if not vectors:
            return
        from tokenmizer_mw.context.recall.vectors import passage_digest

        texts = {text: passage_digest(text) for text in self.without_vector(len(self))}
        self.put_vectors({text: vectors[digest] for text, digest in texts.items() if digest in vectors})

    def rank(
        self, query: str, *, upto: int | None = None, exclude: Collection[int] = (), meaning: Matrix | None = None
    ) -> list[PassageHit]:
        """Return the passages that share terms with ``query``, best first, at most ``HITS_MAX``.

        - ``upto``: use only messages up to this number; ``None``: all.
        - ``exclude``: numbers of messages to leave out.
        - ``meaning``: the query's vector, of length one; passages with a similar meaning are found, too. It is ignored
          if no passage has a vector of as many dimensions. ``None``: search by words alone.
        """
        if meaning is None or self._vectors is None or meaning.shape != (self._vectors.width,):
            return self._rank_words(query, upto, exclude)
        hits = self._rank_words(query, upto, exclude, beside=True)
        return self._fuse_rankings(hits, self._vectors, meaning, upto, exclude, self._weights(_query_terms(query)))

    def _fuse_rankings(
        self,
        hits: Sequence[PassageHit],
        vectors: PassageVectors,
        meaning: Matrix,
        upto: int | None,
        exclude: Collection[int],
        weights: Mapping[str, float],
    ) -> list[PassageHit]:
        """Return the best passages, at most ``HITS_MAX``, by three rankings together: by words (``hits``), by the
        meaning of the passage, and by its meaning together with its neighbours.

        ``meaning``: the query's vector. ``upto``: use only messages up to this number, ``None``: all. ``exclude``:
        numbers of messages to leave out. ``weights``: the query's terms and their weights."""
        from tokenmizer_mw.context.recall.vectors import best_places

        out = self._removed.union(exclude)
        end = len(self._passages) if upto is None else self._end_of(upto)
        allowed = [place for place in range(end) if not out or self._entry(place).number not in out]
        own, context = vectors.similarities(meaning)
        by_meaning = [best_places(similarities, allowed, DEPTH + 1) for similarities in (own, context)]
        scores = fuse_rankings([{hit.place: hit.score for hit in hits}, *by_meaning], SHORT if self._is_short else LONG)
        return [
            replace(
                self._hit(place, score, weights), similarity=max(0.0, float(own[place])) if place < len(own) else 0.0
            )
            for place, score in list(scores.items())[:HITS_MAX]
        ]

    def _rank_words(
        self, query: str, upto: int | None, exclude: Collection[int], *, beside: bool = False
    ) -> list[PassageHit]:
        end = len(self._passages) if upto is None else self._end_of(upto)
        terms = _query_terms(query)
        weights = self._weights(terms)
        scores = self._scores(weights, end)
        spread = self._spread(scores, beside)
        out = self._removed.union(exclude)
        places = [place for place in spread if place < end and self._entry(place).number not in out]
        best = nlargest(HITS_MAX, places, key=lambda place: (spread[place], place))
        least = _RELEVANT * spread[best[0]] if best else 0.0
        return [self._hit(place, spread[place], weights) for place in best if spread[place] >= least]

    # -- inside ----------------------------------------------------------------------------------------------

    def _add_passage(self, passage: Passage, text: str) -> None:
        place = len(self._passages)
        counts = Counter(index_terms(text[passage.start : passage.end]))
        self._passages.append(passage)
        self._without_vector.append(place)
        self._owners.append(len(self._entries) - 1)
        self._lengths.append(counts.total())
        self._total += counts.total()
        for term, count in counts.items():
            posting = self._postings.get(term)
            if posting is None:
                posting = self._postings[term] = _Posting()
            posting.places.append(place)
            posting.counts.append(min(count, 255))

    def _drop_oldest(self) -> None:
        """Rebuild the index from the newest messages that fit; the newest one always stays."""
        first = len(self._passages) - self._most
        kept = [entry for entry in self._entries[:-1] if entry.first >= first] + self._entries[-1:]
        fresh = PassageIndex(passages_max=2 * len(self._passages))
        for entry in kept:
            fresh.add(entry.number, entry.role, entry.text)
        self._entries, self._passages = fresh._entries, fresh._passages
        self._owners, self._lengths, self._total = fresh._owners, fresh._lengths, fresh._total
        self._postings = fresh._postings
        self._removed &= {entry.number for entry in kept}
        before = kept[0].first
        self._without_vector = [place - before for place in self._without_vector if place >= before]
        if self._vectors is not None:
            self._vectors.drop_before(before)

    def _end_of(self, number: int) -> int:
        """Return the position after the last passage of the messages with numbers up to ``number``."""
        at = bisect_right(self._entries, number, key=lambda entry: entry.number)
        return self._entries[at].first if at < len(self._entries) else len(self._passages)

    def _entry(self, place: int) -> _Entry:
        return self._entries[self._owners[place]]

    def _weights(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the 64 rarest of those ``terms`` that the session contains, rare ones first, each with its weight;
        function words, such as "the", get half of it."""
        found = [(self._postings.get(term), term) for term in terms]
        counts = [
            ((len(each.places) if each is not None else 0) + self._beside.get(term, 0), term) for each, term in found
        ]
        rarest = sorted(each for each in counts if each[0])[:_QUERY_TERMS]
        return {term: self._idf(n) * (_FUNCTION_WORD if is_function_word(term) else 1.0) for n, term in rarest}

    def _idf(self, frequency: int) -> float:
        return math.log1p((len(self._passages) - frequency + 0.5) / (frequency + 0.5))

    def _scores(self, weights: Mapping[str, float], end: int) -> dict[int, float]:
        """Return the BM25 scores, with a factor for the speaker, of the passages that contain terms of ``weights`` and
        lie before position ``end``, by position."""
        found = ((weight, self._postings.get(term)) for term, weight in weights.items())
        weighed = [(weight, posting) for weight, posting in found if posting is not None]
        scores: dict[int, float] = {}
        base, slope = self._norms()
        read = 0
        for at, (weight, posting) in enumerate(weighed):
            read += len(posting.places)
            if read > _POSTINGS_MAX and scores:
                return self._rescore(scores, weighed[at:])
            self._accumulate(scores, weight, posting, end, base, slope)
        return self._role_weighted(scores)

    def _spread(self, scores: Mapping[int, float], beside: bool) -> dict[int, float]:
        """Return the scores of passages, increased by a share of the score of their better neighbour. The share is
        larger where passages are short, because lines of a chat are often clear only together. ``beside``: also score
        neighbours that share no term with the query."""
        share = _SHORT_NEIGHBOUR if self._is_short else _NEIGHBOUR
        places = set(scores)
        if beside and self._is_short:
            places.update(near for place in scores for near in (place - 1, place + 1) if 0 <= near < len(self))
        return {
            place: scores.get(place, 0.0) + share * max(scores.get(place - 1, 0.0), scores.get(place + 1, 0.0))
            for place in places
        }

    @property
    def _is_short(self) -> bool:
        """Whether the passages of the session are short: fewer than ``_SHORT_TERMS`` terms on average."""
        return self._total < _SHORT_TERMS * len(self._passages)

    def _norms(self) -> tuple[float, float]:
        """Return two numbers of the BM25 formula: a constant, and a factor for the number of terms of a passage. Their
        sum stands in the denominator of a score, so that long passages score lower."""
        mean = self._total / max(1, len(self._passages)) or 1.0
        return _SATURATION * (1 - _LENGTH), _SATURATION * _LENGTH / mean

    def _accumulate(
        self, scores: dict[int, float], weight: float, posting: _Posting, end: int, base: float, slope: float
    ) -> None:
        lengths, scale = self._lengths, weight * (_SATURATION + 1)
        for place, count in zip(posting.places, posting.counts, strict=True):
            if place >= end:
                break
            scores[place] = scores.get(place, 0.0) + scale * count / (count + base + slope * lengths[place])

    def _rescore(self, scores: dict[int, float], frequent: Sequence[tuple[float, _Posting]]) -> dict[int, float]:
        """Return the 100 best passages of ``scores``, by position, with the scores that the terms of ``frequent``
        (weights and postings) add to them. Passages that contain only these terms are not found."""
        base, slope = self._norms()
        weighted = self._role_weighted(scores)
        found = {place: scores[place] for place in nlargest(_RESCORED, weighted, key=weighted.__getitem__)}
        for place in found:
            norm = base + slope * self._lengths[place]
            for weight, posting in frequent:
                at = bisect_left(posting.places, place)
                if at < len(posting.places) and posting.places[at] == place:
                    count = posting.counts[at]
                    found[place] += weight * (_SATURATION + 1) * count / (count + norm)
        return self._role_weighted(found)

    def _role_weighted(self, scores: dict[int, float]) -> dict[int, float]:
        owners, entries = self._owners, self._entries
        return {place: score * _ROLE_WEIGHTS.get(entries[owners[place]].role, 1.0) for place, score in scores.items()}

    def _text(self, place: int) -> str:
        passage = self._passages[place]
        return self._entry(place).text[passage.start : passage.end]

    def _hit(self, place: int, score: float, weights: Mapping[str, float]) -> PassageHit:
        entry, passage = self._entry(place), self._passages[place]
        head = entry.text[passage.head[0] : passage.head[1]] if passage.head else ""
        quoted = entry.text[passage.start : passage.end]
        return PassageHit(entry.number, entry.role, quoted, place, score, weights, head)


def _query_terms(query: str) -> list[str]:
    """Return the distinct terms of a query; of a long query, only those of its beginning and its end."""
    if len(query) > _QUERY_CHARACTERS:
        half = _QUERY_CHARACTERS // 2
        query = f"{query[:half]} {query[-half:]}"
    return list(dict.fromkeys(index_terms(query)))
