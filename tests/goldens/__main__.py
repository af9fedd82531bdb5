"""``python -m tests.goldens check|record --device NAME``."""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime, timezone

import bindless as bl

from .comparison import Table, compare
from .configuration import Record, configurations, read_record, record_names, write_record
from .device import run


def _queue(name: str) -> bl.Queue:
    selector = f"{name}:*:*" if name in {str(backend) for backend in bl.Backend} else name
    return bl.Queue(selector)


def check(queue: bl.Queue, names: list[str]) -> bool:
    """Print the comparison of the device with records; return whether every value is the same."""
    results = {configuration.name: run(queue, configuration) for configuration in configurations()}
    exact = True
    for name in names:
        record = read_record(name)
        table = Table()
        for configuration in configurations():
            table.add(configuration, compare(results[configuration.name], record.results[configuration.name]))
        print(f"{queue.device.name} beside {record.about['device']}, driver {record.about['driver']}")
        print("\n".join(table.lines()))
        exact &= table.total.exact == table.total.values
    return exact


def record(queue: bl.Queue, name: str | None) -> None:
    """Run every configuration and write the results of the device."""
    device = queue.device
    name = name or re.sub(r"[^a-z0-9]+", "_", device.name.lower()).strip("_")
    about = {
        "device": device.name,
        "driver": device.driver_version,
        "backend": str(device.backend),
        "date": datetime.now(timezone.utc).date().isoformat(),
    }
    results = {configuration.name: run(queue, configuration) for configuration in configurations()}
    for path in write_record(Record(name, about, results)):
        print(f"wrote {path}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit status, 1 where values differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.goldens", description=__doc__)
    parser.add_argument("action", choices=("check", "record"))
    parser.add_argument("--device", default="reference", help="a backend's name or a selector (default: reference)")
    parser.add_argument("--record", action="append", metavar="NAME", help="records to check (default: all)")
    parser.add_argument("--name", help="name of the record to write (default: from the device's name)")
    options = parser.parse_args(arguments)
    with _queue(options.device) as queue:
        if options.action == "record":
            record(queue, options.name)
            return 0
        return 0 if check(queue, options.record or record_names()) else 1


if __name__ == "__main__":
    sys.exit(main())
