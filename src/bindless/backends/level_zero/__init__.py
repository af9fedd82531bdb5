"""The Level Zero back end: libze_loader behind the contract."""
