"""Advice, examples and drafts of an assistant report no work."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Trust

from .talks import labels, talk

ADVICE = """Here is how you could bring some calm into the garden year:

1. **Fixed Watering Hours**: Ensure the beds get water before nine.
2. **Improved Soil**: Dig in compost every autumn and let your beds rest.
3. **Completed Beds**: Mark what you have planted.
   - Completed: 3 of 8 beds by the end of May
   - Remaining: 5 beds
4. **Pests**: Check the leaves weekly. Dealing with aphids can be tiring.
5. **Decision**: Choose two kinds of beans that suit your soil.

Next Steps: Draw a plan, order seeds, and share the result with your neighbours.
"""

LETTER = """Here is a draft:

Dear Ms Okafor,

I completed the survey of all nineteen bridges. We reduced the cost of inspections by a third.
Decision: the eastern span stays closed.

Kind regards,
[Your Name]
"""

EXERCISES = """Let's practise ratios with two short tasks.

**Example 1**
Problem: A baker splits 12 rolls between two trays.
Chosen: 4 rolls for the small tray.

**Example 2**
Completed: 9 of 12 rolls
"""


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Any tips for a vegetable garden that takes less of my time?", ADVICE),
        ("Can you draft a letter to the bridge office?", LETTER),
        ("Can you show me how ratios work?", EXERCISES),
        (
            "Could you polish my cover letter a little?",
            "I have led four shops through two winters. I reduced waste by 20 %. We opened three new counters.",
        ),
        ("What do I write into the report?", "You could say: I finished [name of the course] on [date]."),
        ("How do I tell them?", "I improved the yield of my orchard by half within two years."),
    ],
)
def test_what_is_told_for_others_is_no_work_of_the_session(asked: str, answer: str) -> None:
    graph = talk(f"u: {asked}", f"a: {answer}")
    said = [node for node in graph.nodes() if node.source.role == "assistant" and node.current]
    wanted = (NodeType.TASK, NodeType.DECISION, NodeType.ERROR, NodeType.TEST)
    assert [(n.type, n.label) for n in said if n.type in wanted and n.source.trust is not Trust.PROPOSED] == []


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        ("I've added the rota to the shared sheet. You can now sort it by name.", "added the rota to the shared sheet"),
        ("Fixed the tax rate: it was read before the country was known.", "the tax rate"),
        ("Created the import job. Your old rows stay. You could try it with your file.", "Created the import job"),
        ("I've rewritten my draft of the invoice mail and kept it under ten lines.", "rewritten my draft"),
    ],
)
def test_work_that_is_reported_stays(answer: str, done: str) -> None:
    graph = talk("u: Set up the rota and the import, and fix the tax rate.", f"a: {answer}")
    assert any(done in label for label in labels(graph, NodeType.TASK)), labels(graph, NodeType.TASK)
