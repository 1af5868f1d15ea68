import pytest

from tests.oracles.networks import GROUND, random_network


def components(elements, kinds):
    """Connected components of the nodes under the elements of the given kinds."""
    label = {node: node for e in elements for node in (e.p, e.n)}
    for e in elements:
        if e.kind in kinds:
            old, new = label[e.p], label[e.n]
            label = {node: new if name == old else name for node, name in label.items()}
    return label


@pytest.mark.parametrize("family", ["i", "ii"])
def test_networks_are_reproducible_and_of_the_requested_size(family):
    for seed in range(20):
        network = random_network(seed, family, size=16, diodes=5)
        assert network == random_network(seed, family, size=16, diodes=5)
        assert len(network) == 16
        assert sum(e.kind in "DT" for e in network) == 5
        assert len({e.name for e in network}) == 16


def test_impedance_family_has_no_cut_set_of_switches_and_current_sources():
    for seed in range(40):
        network = random_network(seed, "i")
        label = components(network, "RLCV")
        assert len(set(label.values())) == 1
        assert GROUND in label


def test_impedance_family_has_a_resistor_with_every_source():
    for seed in range(40):
        network = random_network(seed, "i")
        for source in (e for e in network if e.kind in "VI"):
            if source.kind == "V":
                neighbours = [e.kind for e in network if source.p in (e.p, e.n) and e is not source]
                assert neighbours == ["R"]
            else:
                assert any(e.kind == "R" and {e.p, e.n} == {source.p, source.n} for e in network)


def test_impedance_family_has_no_loop_of_switches_and_voltage_sources():
    for seed in range(40):
        network = random_network(seed, "i")
        joined = [e for e in network if e.kind in "SV"]
        label = components(network, "")
        for e in joined:
            assert label[e.p] != label[e.n]
            old, new = label[e.p], label[e.n]
            label = {node: new if name == old else name for node, name in label.items()}


def test_impossible_sizes_are_rejected():
    with pytest.raises(ValueError, match="size must be"):
        random_network(0, size=40)
    with pytest.raises(ValueError, match="diodes must be"):
        random_network(0, size=6, diodes=5)
