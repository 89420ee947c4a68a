"""Plays the hosts of an assisted installation for tests in a browser: lab.py FOLDER. Each line of standard input is a call,
{"target": "service", "lab" or the number of a host, "method": NAME, "arguments": [..]}; each line of output its result,
{"result": VALUE} or {"error": TEXT}. The first line of output says where the service is."""
import json
import pathlib
import sys

COMPONENTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(COMPONENTS / "assist"), str(COMPONENTS.parent / "support")]

from assist_client import Host, Lab, Service  # noqa: E402


class PageLab(Lab):
    """The hosts of a cluster that a user made on the page."""

    def __init__(self, service, folder):
        self.service, self.folder, self.hosts, self.id = service, folder, [], ""

    def adopt(self, name, count):
        self.id = next(each["id"] for each in self.service.get("/clusters") if each["name"] == name)
        self.infra_env = next(each["id"] for each in self.service.get(f"/infra-envs?cluster_id={self.id}"))
        self.token = self.agent_token()
        self.hosts = [Host(self.service, self.infra_env, self.token, number, self.folder) for number in range(count)]

    def check(self):
        for host in self.hosts:
            host.checks(self.hosts)

    def id_of(self, number):
        return self.hosts[number].id

    def number_of_bootstrap(self):
        return self.hosts.index(self.bootstrap)

    def control(self, method, path, body):
        """A request of the controller in the cluster."""
        self.service.call(method, path.replace("CLUSTER", f"/clusters/{self.id}"), body, token=self.controller())

    def installed(self, number, stage):
        self.control("PUT", f"{self.hosts[number].path}/progress", {"current_stage": stage})

    def send_logs(self, number):
        content = b'--x\r\nContent-Disposition: form-data; name="upfile"; filename="l.tar.gz"\r\n\r\n\x1f\x8b\r\n--x--\r\n'
        host = self.hosts[number]
        target = f"/clusters/{self.id}/logs?logs_type=host&host_id={host.id}&infra_env_id={self.infra_env}"
        status, _, body = host.send("POST", target, content, {"Content-Type": "multipart/form-data; boundary=x"})
        assert status == 204, body


class PageHost:
    """Calls of a host with simple arguments."""

    def __init__(self, host):
        self.host = host

    def describe(self, changes):
        self.host.reply("inventory", self.host.inventory(**changes))

    def __getattr__(self, name):
        return getattr(self.host, name)


def main():
    folder = pathlib.Path(sys.argv[1])
    service = Service(folder / "state")
    lab = PageLab(service, folder)

    def answer(value):
        print(json.dumps(value), flush=True)

    answer({"result": {"url": f"https://127.0.0.1:{service.port}", "token": service.token}})
    try:
        for line in sys.stdin:
            call = json.loads(line)
            target = {"service": service, "lab": lab}.get(call["target"]) or PageHost(lab.hosts[call["target"]])
            try:
                result = getattr(target, call["method"])(*call["arguments"])
                answer({"result": result if isinstance(result, (dict, list, str, int, float, type(None))) else None})
            except Exception as problem:  # the test that called decides
                answer({"error": f"{type(problem).__name__}: {problem}"})
    finally:
        status = service.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
