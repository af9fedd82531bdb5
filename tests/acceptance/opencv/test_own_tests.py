"""OpenCV's own tests in Python pass with the functions of ``bindless.cv2`` (``opencv_plugin.py``).

They are read from the folder of OpenCV's source in ``BINDLESS_OPENCV_SOURCE``. OpenCV has few of them: the accuracy of
its functions is tested in C++, and here by random calls beside an installed OpenCV.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cv2", reason="pip install opencv-python-headless")

ROOT = Path(__file__).parents[3]
FILES = (
    "modules/imgproc/misc/python/test/test_imgproc.py",
    "modules/objdetect/misc/python/test/test_objdetect_aruco.py",
    "modules/objdetect/misc/python/test/test_qrcode_detect.py",
    "modules/python/test/test_mat.py",
)
TESTS = Path(__file__).with_name("tests.txt")


@pytest.fixture
def source() -> Path:
    folder = os.environ.get("BINDLESS_OPENCV_SOURCE")
    if not folder or not Path(folder, FILES[0]).is_file():
        pytest.skip("set BINDLESS_OPENCV_SOURCE to a folder of OpenCV's source")
    return Path(folder)


@pytest.mark.usefixtures("device")
def test_opencv_s_tests_pass(source: Path, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    listed = dict(line.split(" # ", 1) for line in TESTS.read_text().splitlines())
    command = [sys.executable, "-m", "pytest", "-c", str(tmp_path / "pytest.ini"), "--rootdir", str(source), "-q"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.acceptance.opencv.opencv_plugin", "--tb=short"]
    folders = [str(ROOT), str(source / "modules/python/test"), os.environ.get("PYTHONPATH", "")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"BINDLESS_CV2_DEVICE": pytestconfig.getoption("--device"), "PYTHONPATH": os.pathsep.join(folders)}
    names = [test.partition("::")[2].rpartition("::")[2] for test in listed]
    command += ["-k", " or ".join(names), *(str(source / file) for file in FILES)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    for test, functions in listed.items():
        assert f"{test} calls {functions}" in ran.stdout
