"""Correct classes in many styles get full points; each seeded mistake is named."""

import json
from pathlib import Path

import pytest
import torch

from regard.course import homework
from regard.course.check import choose, grade, guess, read_source
from regard.course.contracts import CONTRACTS
from regard.course.desk import Desk
from regard.course.grade import PARTS, Report, table, texts
from regard.errors import RegardError

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
RIGHT = sorted((SUBMISSIONS / "right").glob("*.py"))
LEAVING = ("sys_exit", "deep_recursion")
LOOPED = (("sentence", 32), ("word", 20))
ONE_FINDING = (
    "relu_normalised", "leak_centred", "softmax_batch", "global_cache", "hardcoded_batch",
    "squeeze_all", "squeeze_inner", "squeeze_inner_words", "wrong_sign",
)  # fmt: skip
MISTAKES = {
    "additive_no_tanh": "query-ignored",
    "additive_no_v": "no-v",
    "additive_relu": "not-additive",
    "additive_softmax_batch": "softmax-batch",
    "additive_softmax_single": "softmax-single",
    "batch_first": "batch-first",
    "cached_keys": "state",
    "class_cache": "state",
    "coverage": "state",
    "data_keys": "not-differentiable",
    "detached_weights": "not-differentiable",
    "dot_no_context": "output-wrong",
    "dot_no_state": "output-wrong",
    "dot_no_tanh": "output-wrong",
    "dot_scaled": "scale-unwanted",
    "dot_target_softmax": "softmax-queries",
    "dot_view": "view",
    "double_softmax": "double-softmax",
    "dropout_always": "random",
    "exception": "exception",
    "global_cache": "state",
    "gumbel": "random",
    "half_projection": "half-projection",
    "hardcoded_batch": "hardcoded-batch",
    "hardcoded_device": "hardcoded-device",
    "hardcoded_mps": "hardcoded-device",
    "in_place": "in-place",
    "kept_axis": "kept-axis",
    "layers_in_forward": "random",
    "leak": "leak",
    "leak_centred": "leak",
    "leak_first_sentence": "leak",
    "leak_mean": "leak",
    "leak_value": "leak",
    "log_softmax": "log-softmax",
    "mask_required": "forward-arguments",
    "multi_head_no_output": "output-missing",
    "multi_head_query_softmax": "softmax-queries",
    "multi_head_scale": "scale-wrong-size",
    "multi_head_view": "view",
    "multi_head_view_back": "view",
    "no_attention": "constant",
    "no_projection": "no-projection",
    "no_softmax": "not-a-distribution",
    "numpy_detached": "not-differentiable",
    "numpy_softmax": "not-differentiable",
    "one_direction": "one-direction",
    "other_key_size": "projection-size",
    "overflow": "overflow",
    "query_ignored": "query-ignored",
    "relu_normalised": "not-bilinear",
    "reshape_and_dict": "view",
    "return_order": "return-order",
    "scale_by_d": "scale-by-d",
    "scale_by_dec": "scale-wrong-size",
    "scale_by_enc": "scale-wrong-size",
    "scale_by_length": "scale-by-length",
    "scale_inverted": "scale-inverted",
    "scale_missing": "scale-missing",
    "sigmoid": "not-a-distribution",
    "sizes_confused": "hardcoded-size",
    "softmax_batch": "softmax-batch",
    "softmax_features": "softmax-features",
    "softmax_features_shape": "softmax-features",
    "softmax_single": "softmax-single",
    "squeeze_all": "squeezed",
    "squeeze_inner": "squeezed",
    "squeeze_inner_words": "squeezed",
    "swapped_layers": "swapped",
    "swapped_roles": "swapped",
    "tanh_projection": "not-bilinear",
    "transposed_value": "transposed",
    "transposed_weights": "transposed",
    "unregistered_closure": "unregistered",
    "unregistered_list": "unregistered",
    "unregistered_numpy": "unregistered",
    "unregistered_partial": "unregistered",
    "unregistered_tensor": "unregistered",
    "unregistered_underscore": "unregistered",
    "value_mean": "value-ignores-weights",
    "value_mean_of_products": "value-scaled",
    "value_only": "not-a-pair",
    "values_projected": "values-projected",
    "values_projected_smaller": "values-projected",
    "view_keys": "view",
    "view_values": "view",
    "view_weights": "view",
    "wrong_sign": "wrong-sign",
}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def judged(source: str, *, name: str | None = None, kind: str | None = None) -> Report:
    report = Report("student.py", "", kind or "single_query", CONTRACTS[kind or "single_query"].points)
    grade(Desk().answer, source, report, name=name, kind=kind)
    return report


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_correct_styles_get_full_points(path: Path) -> None:
    report = judged(path.read_text())
    assert report.findings == []
    assert report.total == report.full == 20


@pytest.mark.parametrize("name", ["SingleQueryScaledDotProductAttention", "DotProdAttention"])
def test_our_own_classes_get_full_points(name: str) -> None:
    report = judged(Path(homework.__file__ or "").read_text(), name=name)
    assert report.findings == []
    assert report.total == 20


def test_a_loop_is_right_but_its_cost_is_told() -> None:
    report = judged((SUBMISSIONS / "right" / "loops.py").read_text())
    starts = [f"It loops over every {what} in Python: right, but slow. {count} {what}s take " for what, count in LOOPED]
    assert [remark.startswith(start) for remark, start in zip(report.remarks, starts, strict=True)] == [True, True]


def test_sentences_that_meet_in_softmax_get_no_points_for_their_independence() -> None:
    assert judged((SUBMISSIONS / "wrong" / "softmax_batch.py").read_text()).got("batch") == 0


def test_every_wrong_submission_has_a_name() -> None:
    assert {path.stem for path in (SUBMISSIONS / "wrong").glob("*.py")} == set(MISTAKES)


@pytest.mark.parametrize(("stem", "code"), MISTAKES.items())
def test_mistakes_are_named(stem: str, code: str) -> None:
    report = judged((SUBMISSIONS / "wrong" / f"{stem}.py").read_text())
    assert report.findings[0].code == code
    assert report.total < report.full
    assert "{" not in "".join(finding.seen + finding.title for finding in report.findings)


@pytest.mark.parametrize("stem", [*ONE_FINDING])
def test_one_mistake_is_one_finding(stem: str) -> None:
    report = judged((SUBMISSIONS / "wrong" / f"{stem}.py").read_text())
    assert [finding.code for finding in report.findings] == [MISTAKES[stem]]


def test_everything_that_can_be_said_is_well_formed() -> None:
    assert len(texts()) > 50
    for code, text in texts().items():
        assert set(text) == {"title", "seen", "likely", "hint"}, code
        assert not text["title"].endswith(".")
        assert "torch." not in text["hint"].replace("torch.empty", "")


def test_two_mistakes_are_two_findings() -> None:
    report = judged((SUBMISSIONS / "wrong" / "batch_first.py").read_text())
    assert [finding.code for finding in report.findings] == ["batch-first", "values-projected"]
    assert report.total == 15


def test_what_was_measured_is_quoted() -> None:
    seen = judged((SUBMISSIONS / "wrong" / "scale_by_dec.py").read_text()).findings[0].seen
    assert seen == "Scores are divided by 2.6458 = sqrt(dec_hid_dim); sqrt(3) = 1.7321 was expected."
    seen = judged((SUBMISSIONS / "wrong" / "squeeze_inner.py").read_text()).findings[0].seen
    assert seen.startswith("With 1 sentence of 6 words it fails (IndexError: Dimension out of range")
    seen = judged((SUBMISSIONS / "wrong" / "squeeze_all.py").read_text()).findings[0].seen
    assert seen == "With 1 sentence of 9 words the value has the shape [10], not [1, 10]."
    seen = judged((SUBMISSIONS / "wrong" / "exception.py").read_text()).findings[0].seen
    assert seen.startswith("NameError: name 'hidden_state' is not defined (line 16: q = self.W_q(hidden_state)")


def test_a_wrong_sign_does_not_hide_a_wrong_scale() -> None:
    source = (SUBMISSIONS / "wrong" / "scale_missing.py").read_text().replace("softmax(scores", "softmax(-scores")
    assert [finding.code for finding in judged(source).findings] == ["wrong-sign", "scale-missing"]
    source = (SUBMISSIONS / "right" / "dot_product.py").read_text().replace("softmax(z", "softmax(-z")
    assert [finding.code for finding in judged(source).findings] == ["wrong-sign"]


def test_report_as_text_json_and_table() -> None:
    report = judged((SUBMISSIONS / "wrong" / "scale_missing.py").read_text())
    text = report.render()
    assert "student.py  SingleQueryScaledDotProductAttention  as single_query:  18 / 20 points" in text
    assert "  FAILED     scale        0 / 2" in text
    assert "        hint:   What does the word `scaled` stand for?" in text
    data = report.to_json()
    assert data["parts"]["scale"] == {"points": 0, "of": 2, "status": "FAILED"}
    assert data["findings"][0]["code"] == "scale-missing"
    header, row = table([report])
    assert header[:5] == ["file", "class", "as", "points", "of"]
    assert row[5 : 5 + len(PARTS)] == ["2", "3", "4", "0", "3", "2", "2", "2"]


def test_a_script_that_does_not_run_as_a_whole_is_judged_by_its_class() -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text()
    report = judged("import nowhere_to_be_found\n" + source + "\nmodel = Seq2Seq(nothing)\n")
    assert report.total == 20
    assert report.remarks == [
        "The file as a whole stops with ModuleNotFoundError in line 1 (import nowhere_to_be_found); "
        "its definitions were judged alone."
    ]


def test_a_class_judged_by_its_name_alone_may_be_another_assignment() -> None:
    source = (SUBMISSIONS / "right" / "additive.py").read_text().replace("BahdanauAttention", "Attention")
    report = judged(source)
    assert report.findings[0].code == "not-bilinear"
    assert report.remarks == ["It was judged as single_query by its name; if it is another assignment, say --as."]
    assert judged(source, kind="additive").total == 20


def test_globals_that_cannot_be_copied_are_no_mistake() -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text()
    assert (
        judged(
            source + "\n\nKEPT = [iter(()), (line for line in [])]\nimport threading\nLOCKS = {1: threading.Lock()}\n"
        ).total
        == 20
    )


def test_several_classes_need_a_name() -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text().replace("SingleQueryScaledDotProductAttention", "Mine")
    source += "\n\nclass Other(nn.Module):\n    pass\n"
    assert judged(source).findings[0].seen == (
        "student.py: got 2 classes (Mine, Other), want one. Name it: student.py:Class."
    )
    assert judged(source, name="Mine").total == 20
    with pytest.raises(RegardError, match=r"^student.py: no attention class 'Mien'. Did you mean 'Mine'\?$"):
        choose("student.py", {"Mine": {}, "Other": {}}, "Mien")


def test_a_class_that_another_derives_from_is_no_candidate() -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text().replace("SingleQueryScaledDotProductAttention", "MyHead")
    source = source.replace("class MyHead(nn.Module)", "class Base(nn.Module):\n    pass\n\n\nclass MyHead(Base)")
    report = judged(source)
    assert (report.name, report.total) == ("MyHead", 20)
    assert judged(source + "\n\nclass Encoder(nn.Module):\n    pass\n").findings[0].code == "no-class"
    with_encoder = source.replace("MyHead", "MyAttention").replace("Base", "BaseAttention")
    assert judged(with_encoder + "\n\nclass Encoder(nn.Module):\n    pass\n").name == "MyAttention"


def test_leaving_and_recursing_are_exceptions() -> None:
    seen = {stem: judged((SUBMISSIONS / "hostile" / f"{stem}.py").read_text()).findings[0].seen for stem in LEAVING}
    assert seen["sys_exit"].startswith("SystemExit: 0 (line ")
    assert seen["deep_recursion"].startswith("RecursionError: ")


def test_syntax_errors_are_told_with_their_line_and_not_as_wrong_shapes() -> None:
    (finding,) = judged("def f(:\n    pass\n").findings
    assert finding.seen.startswith("SyntaxError: invalid syntax")
    assert (finding.code, finding.title) == ("not-python", "The file is not valid Python")


def test_guarded_imports_and_choices_are_definitions() -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text().replace("from torch import nn\n", "")
    guarded = "try:\n    from torch import nn\nexcept ImportError:\n    pass\nif True:\n    DEVICE = 'cpu'\n"
    assert judged(guarded + source + "\nassert DEVICE\nmodel = Seq2Seq(nothing)\n").total == 20


@pytest.mark.parametrize(
    "other",
    [
        "nn.Linear?",
        "?print",
        "files = !ls",
        "if True:\n    !ls",
        'print("%s"\n      % 3)',
        "%%bash\nfor i in 1 2; do echo $i; done",
        "def unfinished(:",
    ],
)
def test_other_cells_of_a_notebook_do_no_harm(tmp_path: Path, other: str) -> None:
    source = (SUBMISSIONS / "right" / "bmm.py").read_text()
    notebook = tmp_path / "homework.ipynb"
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in (other, source)]
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8-sig")
    assert judged(read_source(notebook)).total == 20
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["class Mine(:"]}]}))
    assert judged(read_source(notebook)).findings[0].code == "not-python"


@pytest.mark.parametrize(("encoding", "head"), [("utf-8-sig", ""), ("latin-1", "# coding: latin-1\n")])
def test_a_file_is_read_as_python_reads_it(tmp_path: Path, encoding: str, head: str) -> None:
    file = tmp_path / "homework.py"
    file.write_text(f"{head}x = 'Müller'\n", encoding=encoding)
    assert read_source(file) == f"{head}x = 'Müller'\n"


def test_assignments_are_guessed_from_names() -> None:
    names = [
        "SingleQueryScaledDotProductAttention",
        "DotProdAttention",
        "BahdanauAttention",
        "MultiHeadAttention",
        "Attn",
    ]
    assert [guess(name) for name in names] == ["single_query", "dot_product", "additive", "multi_head", "single_query"]


def test_notebooks(tmp_path: Path) -> None:
    notebook = tmp_path / "homework.ipynb"
    notebook.write_text(
        '{"cells": [{"cell_type": "code", "source": ["%matplotlib inline\\n", "x = 1"]}, {"cell_type": "markdown"}]}'
    )
    assert read_source(notebook) == "pass\nx = 1"
    notebook.write_text("{}")
    with pytest.raises(RegardError, match="got KeyError, want a readable Python file or notebook"):
        read_source(notebook)
