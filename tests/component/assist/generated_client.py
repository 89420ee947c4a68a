"""The client that swagger-codegen generated from the public description of assisted-service, as a judge of the service: each answer has
only fields of the description, with their types and values, and all fields that are required."""
import datetime
import json
import pathlib
import re

from pypi_packages import use_packages

PACKAGES = use_packages(pathlib.Path(__file__).with_name("requirements.txt"))

import assisted_service_client as public  # noqa: E402
from assisted_service_client import api, models  # noqa: E402
from assisted_service_client.rest import ApiException  # noqa: E402, F401

from assist_client import Host  # noqa: E402

# The description gives these lists and maps names; the generated classes for them are empty.
ALIASES = {"ClusterList": "list[Cluster]", "HostList": "list[Host]", "InfraEnvList": "list[InfraEnv]", "EventList": "list[Event]",
           "MonitoredOperatorsList": "list[MonitoredOperator]", "ListManifests": "list[Manifest]", "ListManagedDomains": "list[ManagedDomain]",
           "ReleaseSources": "list[ReleaseSource]", "OpenshiftVersions": "dict(str, OpenshiftVersion)", "Versions": "dict(str, str)",
           "Subnet": "str", "Ip": "str"}
# Models of which the generated class has only a part, because the description puts them together from others.
PARTS = {"HostRegistrationResponse": ["Host"]}
# Fields that the service has beyond the description (docs/assisted.md).
ADDED = {"HostRegistrationResponse": {"host_token", "host_token_expires_at"}}
TYPES = {"str": str, "bool": bool, "int": int, "float": (int, float), "object": object, "file": str}


def operations():
    """Of all parts of the API: (method, path) and the names of the functions."""
    found = {}
    for module in (api.installer_api, api.manifests_api, api.operators_api, api.events_api, api.versions_api, api.managed_domains_api):
        source = pathlib.Path(module.__file__).read_text()
        for call in re.finditer(r"call_api\(\s*'([^']*)', '([A-Z]+)'", source):
            name = re.findall(r"def (\w+)_with_http_info", source[:call.start()])[-1]
            found[call[2], call[1].removeprefix("/v2")] = name
    return found


def check(value, kind, place):
    """Whether a document is what the description says."""
    kind = ALIASES.get(kind, kind)
    if inner := re.fullmatch(r"list\[(.*)\]", kind):
        assert isinstance(value, list), f"{place}: no list: {value!r}"
        for number, item in enumerate(value):
            check(item, inner[1], f"{place}[{number}]")
    elif inner := re.fullmatch(r"dict\(str, (.*)\)", kind):
        assert isinstance(value, dict), f"{place}: no object: {value!r}"
        for key, item in value.items():
            check(item, inner[1], f"{place}.{key}")
    elif kind == "datetime":
        assert datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).tzinfo, f"{place}: {value!r} has no time zone"
    elif kind in TYPES:
        is_right = isinstance(value, TYPES[kind]) and (kind == "bool") == isinstance(value, bool)
        assert kind == "object" or is_right, f"{place}: {value!r} is no {kind}"
    else:
        check_model(value, getattr(models, kind), place)


def check_model(value, model, place):
    values = [each for name, each in vars(model).items() if name.isupper() and isinstance(each, str)]
    if values:
        assert value in values, f"{place}: {value!r} is not one of {values}"
        return
    all_parts = [model, *(getattr(models, name) for name in PARTS.get(model.__name__, []))]
    fields = {part.attribute_map[name]: kind for part in all_parts for name, kind in part.swagger_types.items()}
    assert fields, f"{place}: the judge does not know {model.__name__}"
    assert isinstance(value, dict), f"{place}: no object: {value!r}"
    unknown = set(value) - set(fields) - ADDED.get(model.__name__, set())
    assert not unknown, f"{place}: the description has no {sorted(unknown)}"
    for key, item in value.items():
        if item is not None and key in fields:
            check(item, fields[key], f"{place}.{key}")
    # The generated class refuses values that are not in the list of a field, and objects without a required field.
    for part in all_parts:
        try:
            public.ApiClient()._ApiClient__deserialize(value, part)
        except ValueError as problem:
            raise AssertionError(f"{place}: {problem}") from None


class Judge(public.ApiClient):
    """Calls the service, and looks at each answer before the generated code does."""

    def __init__(self, service, folder, token=None):
        configuration = public.Configuration()
        configuration.host = f"{'http' if service.plain else 'https'}://127.0.0.1:{service.port}/api/assisted-install"
        configuration.temp_folder_path = str(folder)
        if not service.plain:
            configuration.ssl_ca_cert = str(service.folder / "tls/ca.crt")
        if token:  # the generated code sends it as it is, without a word before it
            configuration.api_key["Authorization"] = token
        super().__init__(configuration)
        self.judged = set()
        self.installer, self.manifests = api.InstallerApi(self), api.ManifestsApi(self)
        self.operators, self.events = api.OperatorsApi(self), api.EventsApi(self)
        self.versions, self.domains = api.VersionsApi(self), api.ManagedDomainsApi(self)

    def call_api(self, path, method, *arguments, **named):
        try:
            result = super().call_api(path, method, *arguments, **named)
        except ApiException as refusal:
            kind = "InfraError" if refusal.status in (401, 403) else "Error"
            check(json.loads(refusal.body), kind, f"{method} {path}: {refusal.status}")
            raise
        self.judged.add((method, path.removeprefix("/v2")))
        return result

    def deserialize(self, response, response_type):
        if response_type != "file":
            check(json.loads(response.data), response_type, response_type)
        return super().deserialize(response, response_type)


class PublicHost(Host):
    """A host whose agent is the generated client."""

    def __init__(self, judge, service, infra_env, number, folder):
        super().__init__(service, infra_env, "", number, folder)
        self.judge = judge.installer

    def register(self):
        answer = self.judge.v2_register_host(self.infra_env, models.HostCreateParams(host_id=self.id, discovery_agent_version="judge"))
        assert answer.next_step_runner_command.retry_seconds == 60
        return self.view()

    def instructions(self, wait=0):
        return self.judge.v2_get_next_steps(self.infra_env, self.id)

    def step_types(self):
        return [each.step_type for each in self.instructions().instructions]

    def reply(self, step_type, output, exit_code=0, error=""):
        reply = models.StepReply(step_type, f"{step_type}-1", exit_code, json.dumps(output), error)
        self.judge.v2_post_step_reply(self.infra_env, self.id, reply=reply)

    def stage(self, name, info=""):
        self.judge.v2_update_host_install_progress(self.infra_env, self.id, models.HostProgress(name, info))

    def view(self):
        return self.judge.v2_get_host(self.infra_env, self.id).to_dict()
