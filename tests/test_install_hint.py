"""What messages say to install: a command that works although the packages are on no index."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tokenmizer_mw.runtime.installing import model_directory

ROOT = Path(__file__).parent.parent


def hint(site: Path, told: object) -> str:
    """The hint in an environment where the distribution was installed from what ``told`` says."""
    about = site / "tokenmizer_mw-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tokenmizer-mw\nVersion: 0.1.0\n", encoding="utf-8")
    if told is not None:
        (about / "direct_url.json").write_text(json.dumps(told), encoding="utf-8")
    code = (
        f"import sys; sys.path[:0] = [{str(site)!r}, {str(ROOT)!r}];"
        " from tokenmizer_mw.runtime.installing import install_hint; print(install_hint('proxy'))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"url": "file:///home/ada/tokenmizer%20mw", "dir_info": {}}, "'/home/ada/tokenmizer mw[proxy]'"),
        ({"url": "file:///tmp/t-0.1.0.whl", "archive_info": {}}, "'/tmp/t-0.1.0.whl[proxy]'"),
        (
            {"url": "https://host.invalid/t.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            "'tokenmizer-mw[proxy] @ git+https://host.invalid/t.git'",
        ),
        (None, "'.[proxy]' in a checkout of tokenmizer-mw"),
        ([], "'.[proxy]' in a checkout of tokenmizer-mw"),
    ],
    ids=["checkout", "wheel", "git", "index", "damaged"],
)
def test_it_installs_from_where_the_package_came(tmp_path: Path, told: object, expected: str) -> None:
    assert hint(tmp_path, told) == f"pip install {expected}"


def test_no_message_and_no_page_names_an_index() -> None:
    """The packages are on none."""
    sources = [*ROOT.glob("tokenmizer_mw/**/*.py"), *ROOT.glob("integrations/*/*/*.py"), *ROOT.glob("docs/*.md")]
    named = re.compile(r"(?<!un)install (?:tokenmizer-mw|'tokenmizer-mw\[)")
    wrong = [str(path) for path in sources if named.search(path.read_text(encoding="utf-8"))]
    assert wrong == []


def test_a_model_is_a_directory_or_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a_packaged_model" / "model"
    folder.mkdir(parents=True)
    (tmp_path / "no_model_inside").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert model_directory("a-packaged-model") == model_directory("a_packaged_model") == folder
    assert model_directory(str(tmp_path)) == tmp_path
    for name in ("no-model-inside", "not_installed_anywhere", "models/none", ""):
        assert model_directory(name) == Path(name)
