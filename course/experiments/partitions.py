"""How TensorFlow cuts a graph into one part per device, with a `_Send` and a `_Recv` for each value that crosses.

A program that runs the graph saves its parts; a notebook, which need not import TensorFlow, loads and shows them.
"""

import json
import re
from graphlib import TopologicalSorter
from pathlib import Path

SENDS, RECEIVES = "_Send", "_Recv"


def save(path, graphs):
    """Write the parts that TensorFlow reports in `RunMetadata.partition_graphs`, one GraphDef per device."""
    Path(path).write_text(json.dumps([_describe_part(graph) for graph in graphs], indent=1), encoding="utf-8")


def load(path):
    """The parts: a dict, device -> list of nodes, in an order in which they can run.

    A device is named after its process, as in "worker 1". A node is a dict with "name", "op", "inputs" (names of nodes
    of the same part) and, if it sends or receives, "value" (the name of what crosses), "source" and "dest" (devices; a
    program that feeds or fetches a value is the "client").
    """
    parts = json.loads(Path(path).read_text(encoding="utf-8"))
    return {part["device"]: _sort(part["nodes"]) for part in parts}


def list_messages(parts):
    """[(source, dest, value)] of all parts together, in an order in which they can be sent."""
    senders = {_key(node): (device, node["name"]) for device, node in _nodes(parts) if node["op"] == SENDS}
    before = {}
    for device, node in _nodes(parts):
        before[device, node["name"]] = {(device, name) for name in node["inputs"]}
        if node["op"] == RECEIVES and _key(node) in senders:
            before[device, node["name"]].add(senders[_key(node)])
    nodes = {(device, node["name"]): node for device, node in _nodes(parts)}
    keys = {_key(nodes[each]): None for each in TopologicalSorter(before).static_order() if "value" in nodes[each]}
    return list(keys)


def _nodes(parts):
    return [(device, node) for device, nodes in parts.items() for node in nodes]


def _key(node):
    return node["source"], node["dest"], node["value"]


def _sort(nodes):
    """The nodes in an order in which they can run."""
    by_name = {node["name"]: node for node in nodes}
    return [
        by_name[name] for name in TopologicalSorter({each["name"]: each["inputs"] for each in nodes}).static_order()
    ]


def _describe_part(graph):
    return {"device": _name_process(graph.node[0].device), "nodes": [_describe_node(node) for node in graph.node]}


def _describe_node(node):
    inputs = sorted({re.sub(r"^\^|:\d+$", "", each) for each in node.input})
    described = {"name": node.name, "op": node.op, "inputs": inputs}
    if node.op in (SENDS, RECEIVES):
        source, dest = (_name_process(node.attr[key].s.decode()) for key in ("send_device", "recv_device"))
        if node.attr["client_terminated"].b:
            source, dest = ("client", dest) if node.op == RECEIVES else (source, "client")
        value = re.sub(r"^edge_\d+_|:0$", "", node.attr["tensor_name"].s.decode())
        described |= {"value": value, "source": source, "dest": dest}
    return described


def _name_process(device):
    """'worker 1' of '/job:worker/replica:0/task:1/device:CPU:0'."""
    return " ".join(re.search(r"job:(\w+)/.*task:(\d+)", device).groups())
