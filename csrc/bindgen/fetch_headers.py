"""Fetch the pinned vendor headers: python csrc/bindgen/fetch_headers.py DIR.

DIR then holds `cuda.h`, `level_zero/` and `CL/`. Each archive is pinned by its SHA-256. The headers are not installed
and not part of the package: the generator reads declarations from them. Debian packages come from apt's own server; a
package that the archive no longer has is reported and skipped.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

POOL = "pool/main/"


@dataclass(frozen=True)
class Package:
    """One pinned archive: its location, and the target folders of its files."""

    name: str
    source: str
    sha256: str
    prefix: str
    destination: str


DEBIAN_PACKAGES = (
    Package(
        "libze-dev 1.32.0 (Level Zero 1.17)",
        POOL + "l/level-zero/libze-dev_1.32.0-1_amd64.deb",
        "46683fdb7a9c619941a5e665b424e8dca69d9870e4f49424a73ddc18653f1111",
        "./usr/include/level_zero/",
        "level_zero",
    ),
    Package(
        "opencl-c-headers 2025.07.22",
        POOL + "k/khronos-opencl-headers/opencl-c-headers_3.0~2025.07.22-2_all.deb",
        "54fdb154528950a89d65baf86d089f2e81dfaa994ab8e940c24d7d3c5930f805",
        "./usr/include/CL/",
        "CL",
    ),
)

CUDA_WHEEL = Package(
    "nvidia-cuda-runtime 13.0.96",
    "nvidia-cuda-runtime==13.0.96",
    "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    "nvidia/cu13/include/cuda.h",
    "cuda.h",
)


def verify(package: Package, data: bytes) -> None:
    """Raise an error for an archive with another hash."""
    found = hashlib.sha256(data).hexdigest()
    if found != package.sha256:
        sys.exit(f"{package.name}: SHA-256 is {found}, expected {package.sha256}; review the pin in fetch_headers.py")


def deb_members(data: bytes) -> tarfile.TarFile:
    """The data archive inside a Debian package (an `ar` file of three members)."""
    offset = 8
    while offset < len(data):
        name = data[offset : offset + 16].decode("ascii").strip().rstrip("/")
        size = int(data[offset + 48 : offset + 58])
        body = data[offset + 60 : offset + 60 + size]
        if name == "data.tar.xz":
            return tarfile.open(fileobj=io.BytesIO(lzma.decompress(body)))
        offset += 60 + size + size % 2
    sys.exit("the Debian package holds no data.tar.xz; unpack it by hand and correct fetch_headers.py")


def debian_archive() -> str | None:
    """Return the URL of Debian's archive in apt's configuration; None on other systems."""
    if shutil.which("apt-get") is None:
        return None
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    archives = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return next((archive for archive in archives if archive.rstrip("/").endswith("/debian")), None)


def fetch_debian(package: Package, archive: str | None, directory: Path) -> None:
    """Download one Debian package and keep its headers; report a package that the archive no longer has."""
    way_out = "pin the version that Debian has now, and regenerate the bindings"
    if archive is None:
        print(f"NOT FETCHED: {package.name}: apt knows no Debian archive here", file=sys.stderr)
        return
    try:
        with urllib.request.urlopen(archive + package.source, timeout=120) as answer:
            data = answer.read()
    except OSError as error:
        print(f"NOT FETCHED: {package.name}: {package.source}: {error}; {way_out}", file=sys.stderr)
        return
    verify(package, data)
    with deb_members(data) as archive:
        for member in archive.getmembers():
            if not (member.isfile() and member.name.startswith(package.prefix) and member.name.endswith(".h")):
                continue
            source = archive.extractfile(member)
            if source is None:
                continue
            target = directory / package.destination / member.name[len(package.prefix) :]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read())


def fetch_cuda(directory: Path) -> None:
    """Download the CUDA runtime wheel with pip and keep cuda.h."""
    platform = "manylinux2014_x86_64"
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--platform", platform, "--dest", scratch, CUDA_WHEEL.source]
        subprocess.run(command, check=True)
        wheel = next(Path(scratch).glob("*.whl"))
        verify(CUDA_WHEEL, wheel.read_bytes())
        with zipfile.ZipFile(wheel) as archive:
            (directory / CUDA_WHEEL.destination).write_bytes(archive.read(CUDA_WHEEL.prefix))


def main() -> None:
    """Fetch everything into the directory named on the command line."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    archive = debian_archive()
    for package in DEBIAN_PACKAGES:
        fetch_debian(package, archive, directory)
    fetch_cuda(directory)
    print(f"headers are in {directory}")


if __name__ == "__main__":
    main()
