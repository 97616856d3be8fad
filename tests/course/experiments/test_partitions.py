"""The parts of a TensorFlow graph: what crosses between devices, and in which order."""

import json

import pytest

from course.experiments import partitions


def node(name, *inputs, op="Mul", crosses=None):
    """A node as a saved graph has it; crosses: (source, dest, value)."""
    keys = ("source", "dest", "value")
    return {"name": name, "op": op, "inputs": list(inputs), **dict(zip(keys, crosses or (), strict=False))}


def test_messages_come_in_the_order_in_which_the_nodes_can_run(tmp_path):
    w, g = ("ps 0", "worker 1", "w"), ("worker 1", "ps 0", "gradient")
    worker = [
        node("out", "product", op="_Send", crosses=g),
        node("product", "in", "rows"),
        node("rows", op="_Recv", crosses=("client", "worker 1", "rows")),
        node("in", op="_Recv", crosses=w),
    ]
    server = [
        node("update", "gradient"),
        node("gradient", op="_Recv", crosses=g),
        node("read", op="_Send", crosses=w),
    ]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps([{"device": "worker 1", "nodes": worker}, {"device": "ps 0", "nodes": server}]))
    parts = partitions.load(path)
    assert [each["name"] for each in parts["ps 0"]] in (
        ["gradient", "read", "update"], ["read", "gradient", "update"], ["gradient", "update", "read"]
    )  # fmt: skip
    messages = partitions.list_messages(parts)
    assert sorted(messages) == sorted([w, g, ("client", "worker 1", "rows")])
    assert messages[-1] == g


@pytest.mark.long
def test_a_graph_of_tensorflow_is_saved_with_the_devices_of_each_value_that_crosses(tmp_path):
    from google.protobuf import text_format
    from tensorflow.core.framework.graph_pb2 import GraphDef

    ps, worker = ("/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0")

    def describe(name, op, device, *inputs, value=None, is_fed=False):
        values = {"tensor_name": value, "send_device": worker if is_fed else ps, "recv_device": worker}
        attributes = "".join(
            f'attr {{ key: "{key}" value {{ s: "{each}" }} }}' for key, each in values.items() if value
        )
        attributes += 'attr { key: "client_terminated" value { b: true } }' if is_fed else ""
        listed = "".join(f'input: "{each}" ' for each in inputs)
        return f'node {{ name: "{name}" op: "{op}" device: "{device}" {listed} {attributes} }}'

    graphs = [
        describe("read", "ReadVariableOp", ps) + describe("out", "_Send", ps, "read:0", value="edge_7_w"),
        describe("in", "_Recv", worker, value="edge_7_w")
        + describe("x", "_Recv", worker, value="x:0", is_fed=True)
        + describe("product", "MatMul", worker, "x", "in", "^x"),
    ]
    partitions.save(tmp_path / "graph.json", [text_format.Parse(graph, GraphDef()) for graph in graphs])
    parts = partitions.load(tmp_path / "graph.json")
    assert list(parts) == ["ps 0", "worker 1"]
    assert parts["worker 1"][-1]["inputs"] == ["in", "x"]
    assert sorted(partitions.list_messages(parts)) == [("client", "worker 1", "x"), ("ps 0", "worker 1", "w")]
