"""Texture results recorded from real hardware, and the program that records and compares them.

    python -m tests.goldens check --device reference     compare a device with every record
    python -m tests.goldens record --device cuda         add a record of your own device to tests/data

``tests/data/golden_index.json`` lists the configurations, ``golden_inputs.npz`` holds their images and points, and a
``golden_<device>.npz`` with its ``.json`` what one device gave.
"""
