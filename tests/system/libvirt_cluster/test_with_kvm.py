"""Three masters, from an install-config to a complete cluster."""

from creation import BUILD, LIMIT, creation, infra_of


def test_three_masters(host, registry, tmp_path):
    with creation(host, tmp_path / "demo", registry, masters=3) as running:
        running.process.wait(LIMIT)
        assert running.process.returncode == 0, "".join(running.messages)[-4000:]
        print(f"\nthe cluster is complete after {running.events[-1][0]:.0f} s")
        nodes = host.run([BUILD / "payload/bin/hyperkube", "kubectl", "--kubeconfig", running.folder / "auth/kubeconfig", "get", "nodes", "--output", "name"])
        assert sorted(nodes.stdout.split()) == [f"node/master-{i}" for i in range(3)]
        assert f"{infra_of(running.folder)}-bootstrap" not in host.virsh("list", "--all", "--name")
