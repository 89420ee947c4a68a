"""`create install-config` without a file: questions at a terminal, an error elsewhere."""
import termios

import pytest
import yaml
from program import CONFIG, Terminal, clean_environment, run

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@example.com"
# Longer than the line buffer of a terminal.
LOGINS = '{"auths":{' + ",".join(f'"r{number}.example.com":{{"auth":"{number:064d}eDp5"}}' for number in range(60)) + "}}"


@pytest.fixture
def home(tmp_path):
    made = tmp_path / "home"
    (made / ".ssh").mkdir(parents=True)
    return made


def ask(folder, home, *words):
    return Terminal("create", "install-config", "--dir", folder, *words, env=clean_environment(HOME=home))


def test_the_answers_are_a_file_with_defaults(tmp_path, home):
    (home / ".ssh/id_ed25519.pub").write_text(KEY + "\n")
    (home / ".ssh/notes.pub").write_text("no key\n")
    folder = tmp_path / "new"
    with ask(folder, home) as terminal:
        terminal.expect("  1) none\n  2) ")
        assert "notes.pub" not in terminal.text
        terminal.answer("Number or name [none]: ", "2")
        terminal.answer("Number or name [local]: ", "solaris")
        terminal.expect("'solaris' is not one of these")
        terminal.answer("Number or name [local]: ", "none")
        terminal.answer("Base domain: ", "not_a_domain")
        terminal.answer("Base domain: ", "example.com")
        terminal.answer("Cluster name: ", "Demo")
        terminal.answer("Cluster name: ", "demo")
        terminal.expect("Pull secret")
        terminal.type("garbage\x15" + LOGINS + "x\x7f\n")
        assert terminal.wait() == 0, terminal.text
    assert "r7.example.com" not in terminal.text, "a secret was shown"
    made = yaml.safe_load((folder / "install-config.yaml").read_text())
    assert made["metadata"]["name"] == "demo" and made["baseDomain"] == "example.com" and made["sshKey"].strip() == KEY
    assert made["pullSecret"] == LOGINS and made["platform"] == {"none": {}}
    assert made["networking"]["serviceNetwork"] == ["172.30.0.0/16"] and made["controlPlane"]["replicas"] == 3
    assert (folder / "install-config.yaml").stat().st_mode & 0o077 == 0
    log = (folder / ".openshift_install.log").read_text()
    assert "r7.example.com" not in log


def test_platforms_have_questions_of_their_own(tmp_path, home):
    with ask(tmp_path / "new", home) as terminal:
        for question, answer in [("[local]: ", "baremetal"), ("[10.0.0.0/16]: ", "192.168.7.0/24"), ("[Managed]: ", "Disabled"),
                                 ("of the API: ", "192.168.7.5"), ("of the ingress: ", "192.168.7.6"), ("[3]: ", "1"), ("name: ", "m0"),
                                 ("Systems/1: ", "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1"), ("user of its BMC: ", "admin"),
                                 ("password of its BMC: ", "bmc-secret"), ("of its boot interface: ", "52:54:00:00:00:01"), ("Base domain: ", "example.com"),
                                 ("Cluster name: ", "demo"), ("Pull secret", LOGINS)]:
            terminal.answer(question, answer)
        assert terminal.wait() == 0, terminal.text
    assert "bmc-secret" not in terminal.text
    made = yaml.safe_load((tmp_path / "new/install-config.yaml").read_text())
    assert made["platform"]["baremetal"]["hosts"][0]["bmc"]["password"] == "bmc-secret"
    assert made["controlPlane"]["replicas"] == 1 and made["compute"][0]["replicas"] == 0


def test_what_is_optional_may_be_left_open(tmp_path, home):
    with ask(tmp_path / "new", home) as terminal:
        for question, answer in [("[local]: ", "kubevirt"), ("[10.0.0.0/16]: ", ""), ("Namespace of the other cluster: ", "space"),
                                 ("Network attachment of the machines: ", "nodes"), ("of the other cluster: ", ""), ("of the API: ", "10.0.0.5"),
                                 ("of the ingress: ", "10.0.0.6"), ("Base domain: ", "example.com"), ("Cluster name: ", "demo"), ("Pull secret", LOGINS)]:
            terminal.answer(question, answer)
        assert terminal.wait() == 0, terminal.text
    section = yaml.safe_load((tmp_path / "new/install-config.yaml").read_text())["platform"]["kubevirt"]
    assert section == {"namespace": "space", "networkName": "nodes", "apiVIP": "10.0.0.5", "ingressVIP": "10.0.0.6",
                       "persistentVolumeAccessMode": "ReadWriteMany"}


def is_shown(terminal):
    """Whether the terminal echoes input."""
    return bool(termios.tcgetattr(terminal.end)[3] & termios.ECHO)


@pytest.mark.parametrize("end, status", [("interrupt", 8), ("end of input", 3)])
def test_stopping_in_the_middle_writes_nothing_and_leaves_the_terminal_as_it_was(end, status, tmp_path, home):
    with ask(tmp_path / "new", home) as terminal:
        for question, answer in [("[local]: ", "none"), ("Base domain: ", "example.com"), ("Cluster name: ", "demo")]:
            terminal.answer(question, answer)
        terminal.expect("one line: ")
        terminal.interrupt() if end == "interrupt" else terminal.type("\x04")
        assert terminal.wait() == status, terminal.text
        assert is_shown(terminal)
    assert not (tmp_path / "new").exists()


def test_without_a_terminal_it_says_what_to_write_and_asks_nothing(tmp_path, home):
    refused = run("create", "install-config", "--dir", tmp_path, env=clean_environment(HOME=home), status=3)
    assert refused.stdout == "" and "not a terminal" in refused.stderr and "[local]" not in refused.stderr
    example = refused.stderr[refused.stderr.index("apiVersion:"):]
    (tmp_path / "install-config.yaml").write_text(example)
    run("create", "install-config", "--dir", tmp_path, env=clean_environment(HOME=home), status=0)
    assert yaml.safe_load((tmp_path / "install-config.yaml").read_text())["networking"]["networkType"] == "OVNKubernetes"


def test_a_file_that_is_there_is_not_asked_about(tmp_path, home):
    (tmp_path / "install-config.yaml").write_text(CONFIG)
    with ask(tmp_path, home) as terminal:
        assert terminal.wait() == 0
    assert "[local]" not in terminal.text


CLOUDS = [
    ("aws: {region: us-east-1}", 1, ["AWS_ACCESS_KEY_ID", "{home}/.aws/credentials", "profile default"], ".aws/credentials", "[default]\naws_access_key_id=a\n"),
    ("gcp: {region: us-central1, projectID: project-1}", 3, ["GOOGLE_CREDENTIALS", "{home}/.gcp/osServiceAccount.json"], ".gcp/osServiceAccount.json", "{}"),
    ("openstack: {cloud: acme}", 3, ["OS_CLIENT_CONFIG_FILE", "clouds.yaml, cloud acme"], ".config/openstack/clouds.yaml", "clouds: {acme: {}}\n"),
]


@pytest.mark.parametrize("platform, status, tried, file, content", CLOUDS)
def test_missing_credentials_are_told_with_all_that_was_tried(platform, status, tried, file, content, tmp_path, home):
    environment = clean_environment(HOME=home)
    text = CONFIG.replace("none: {}", platform)
    (tmp_path / "install-config.yaml").write_text(text)
    said = run("create", "install-config", "--dir", tmp_path, env=environment, cwd=tmp_path, status=status).stderr
    for words in tried:
        assert words.format(home=home) in said, said
    assert (tmp_path / "install-config.yaml").read_text() == text
    (home / file).parent.mkdir(parents=True, exist_ok=True)
    (home / file).write_text(content)
    run("create", "install-config", "--dir", tmp_path, env=environment, cwd=tmp_path, status=0)
