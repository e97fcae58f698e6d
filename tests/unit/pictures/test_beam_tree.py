import itertools
import math
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from regard.errors import RegardError
from regard.pictures.colours import SERIES
from regard.pictures.terminal import terminal_tree
from regard.pictures.tree import LARGE, START, Node, draw_tree, nodes_of
from regard.search.tree import BEAM_FULL, FINISHED, KEPT, Expansion, Tree

WORDS = ["dog", "ein_langes_Wort_mit_vielen_Buchstaben", "كلب", "中文", "$x$", ".", "</s>"]


def search(*, width: int, steps: int, pruned: int = 6) -> list[Node]:
    """A search in which every kept node but the first has one kept child; the first path wins."""
    nodes = [Node(0, None, 0, "", 0.0, 0.0, 0, is_kept=True, is_on_best_path=True)]
    parents = [0]
    for step in range(1, steps + 1):
        kept = []
        for rank in range(width + pruned):
            number = len(nodes)
            parent = parents[min(rank, len(parents) - 1)]
            text, is_kept = WORDS[(step + rank) % len(WORDS)], rank < width
            total = -step - rank / 10
            nodes.append(Node(number, parent, step, text, -0.5 - rank, total, rank, is_kept, is_on_best_path=rank == 0))
            kept += [number] * is_kept
        parents = kept
    return nodes


@pytest.mark.parametrize(("width", "steps", "bands"), [(1, 1, 1), (3, 6, 1), (5, 15, 2), (2, 60, 5)])
def test_no_labels_touch_and_nothing_is_cut(width: int, steps: int, bands: int) -> None:
    figure = draw_tree(search(width=width, steps=steps), title="a very long title " * 20)
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    heads = [text.get_text() for text in texts if text.get_fontsize() == LARGE]
    assert " ".join(heads) == ("a very long title " * 20).strip()
    assert sum(text.get_text().startswith("… ") for text in texts) == width * (bands - 1)
    assert len(boxes) == 1 + 2 * steps * (width + 3) + width * (bands - 1) + len(heads) + 1
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(boxes, 2):
        overlap = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(overlap) <= 0.5, (one, other)


def test_the_winning_path_is_coloured_and_the_pruned_are_dashed() -> None:
    figure = draw_tree(search(width=2, steps=3), pruned=1)
    links = figure.axes[0].patches
    assert len(links) == 3 * 3
    assert sum(to_hex(link.get_edgecolor()) == SERIES[1] for link in links) == 3
    assert sum(link.get_linestyle() == "solid" or link.get_linestyle() == "-" for link in links) == 6
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert "61 % · −1.00" in shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0.613, "61 %"), (0.0034, "0.3 %"), (0.00042, "0.04 %"), (2e-6, "< 0.01 %"), (1.0, "100 %")]
)
def test_small_probabilities_differ_from_nothing(share: float, shown: str) -> None:
    start, *_ = search(width=1, steps=1)
    node = Node(1, start.id, 1, "dog", math.log(share), -1.0, 0, is_kept=True, is_on_best_path=True)
    (branch,) = terminal_tree([start, node]).children
    assert str(branch.label) == f"1: *dog {shown}"
    assert f"{shown} · −1.00" in [text.get_text() for text in draw_tree([start, node]).axes[0].texts]


def test_only_the_best_of_the_pruned_are_shown_but_never_less_than_the_winner() -> None:
    nodes = search(width=1, steps=1)
    shown = [text.get_text() for text in draw_tree(nodes, pruned=2).axes[0].texts]
    assert sum(" · " in text and text[0].isdigit() for text in shown) == 3
    late = [replace(node, is_on_best_path=node.rank == 6 or node.step == 0) for node in nodes]
    details = [text.get_text() for text in draw_tree(late, pruned=0).axes[0].texts]
    assert "0.2 % · −1.60" in details


def test_a_long_search_is_folded_and_ends_with_the_winner() -> None:
    nodes = search(width=2, steps=60)
    assert max(draw_tree(nodes).get_size_inches()) < 40
    early = [replace(node, is_on_best_path=node.is_on_best_path and node.step < 20) for node in nodes]
    figure = draw_tree(early, pruned=0)
    assert len(figure.axes[0].patches) == 19 * 2
    assert figure.axes[0].texts[-1].get_text().endswith("Steps after the winner's end are not drawn.")


def test_a_recorded_search_becomes_nodes() -> None:
    tree = Tree(
        (
            Expansion(0, None, 1, 5, -0.25, -0.25, 0, KEPT, None),
            Expansion(1, None, 1, 3, -1.5, -1.5, 1, FINISHED, -1.5),
            Expansion(2, None, 1, 6, -2.0, -2.0, 2, BEAM_FULL, None),
            Expansion(3, 0, 2, 3, -0.5, -0.75, 0, FINISHED, -0.375),
            Expansion(4, 0, 2, 7, -1.0, -1.25, 1, "repeats 2 words", None),
        )
    )
    start, *nodes = nodes_of(tree, lambda token: f"word{token}", best=(5, 3))
    assert (start.id, start.step, start.is_on_best_path) == (START, 0, True)
    assert [node.parent for node in nodes] == [START, START, START, 0, 0]
    assert [node.text for node in nodes] == ["word5", "word3", "word6", "word3", "word7"]
    assert [node.reason for node in nodes] == ["", "finished −1.50", "", "finished −0.38", "repeats 2 words"]
    assert [node.is_kept for node in nodes] == [True, True, False, True, False]
    assert [node.is_on_best_path for node in nodes] == [True, False, False, True, False]
    assert [node.total for node in nodes] == [-0.25, -1.5, -2.0, -0.75, -1.25]
    assert len(draw_tree([start, *nodes]).axes[0].patches) == 5


def test_an_empty_search_is_an_error() -> None:
    with pytest.raises(RegardError) as caught:
        draw_tree([])
    assert str(caught.value) == "beam tree: got no expansions, want at least one; record the search first."
