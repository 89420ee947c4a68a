"""Stand-ins for rpm-ostree, bootc, ostree, podman, systemctl and nsenter on a machine with RHEL CoreOS or an image for bootc. The name of the
link that starts them selects the program. All keep their state in /state.json of the machine (host_os.py writes the first one). A test
starts a thousand of them, so modules that few of them need are imported there.

They implement what slipway uses, refuse every other option and verb, and follow these documents:

- rpm-ostree: https://coreos.github.io/rpm-ostree/ and its manual page rpm-ostree(1). JSON of `status` as RHEL CoreOS 4.12 prints it. Messages as
  in the issues of github.com/coreos/rpm-ostree; exit status 1 after an error.
  A reference with the transport registry is pulled from the network, also with --cache-only. Packages come from the enabled repositories of
  /etc/yum.repos.d; one that is not a local folder needs the network.
- bootc: https://bootc-dev.github.io/bootc/ , its manual pages and host-v1.schema.json. Exit status 1 after an error, 2 for a wrong command line.
- ostree: the manual pages of https://ostreedev.github.io/ostree/ . A staged deployment is lost by a power failure; the service
  ostree-finalize-staged.service writes it, with a merged /etc, when it stops.
- podman: the manual pages of https://docs.podman.io/ ; exit status 125 after an error, 1 of `image exists` for an image that is missing.
- containers-registries.conf(5), containers-auth.json(5), containers-policy.json(5): mirrors, logins, and whether any image is accepted.
"""

import fcntl
import json
import os
import pathlib
import re
import signal
import sys

STATE = pathlib.Path("/state.json")
DEPLOYMENTS = pathlib.Path("/sysroot/ostree/deploy")
IN_STORAGE = "containers-storage:"


class Refused(Exception):
    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


class Options:
    """The words of a command line: `flags` without a value, `values` with one, both "--name" and "--name=value"."""

    def __init__(self, words, flags=(), values=(), unknown="error: Unknown option {}", status=1):
        self.flags, self.values, self.rest = set(), {}, []
        words = list(words)
        while words:
            word = words.pop(0)
            name, equals, value = word.partition("=")
            if not word.startswith("-"):
                self.rest.append(word)
            elif name in values:
                self.values.setdefault(name, []).append(value if equals else words.pop(0))
            elif word in flags:
                self.flags.add(word)
            else:
                raise Refused(unknown.format(word), status)

    def of(self, name):
        return self.values.get(name, [])


# ---- the machine -------------------------------------------------------------------------------------------------------

def folder_of(deployment):
    return DEPLOYMENTS / deployment["osname"] / "deploy" / f"{deployment['checksum']}.{deployment['serial']}"


def copy_tree(source, target):
    os.system(f"rm -rf '{target}' && mkdir -p '{target.parent}' && cp -a '{source}' '{target}'")


class Machine:
    def __init__(self):
        self.state = json.loads(STATE.read_text())

    def save(self):
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(self.state, indent=1))
        new.rename(STATE)

    @property
    def deployments(self):
        return self.state["deployments"]

    @property
    def booted(self):
        return next(each for each in self.deployments if each["booted"])

    def image(self, digest):
        return self.state["images"][digest]

    def base_packages(self, deployment):
        return self.image(deployment["digest"])["packages"]

    def discard_staged(self):
        self.state["deployments"] = [each for each in self.deployments if not each["staged"]]

    def discard_pending(self):
        self.discard_staged()
        while not self.deployments[0]["booted"]:
            os.system(f"rm -rf '{folder_of(self.deployments[0])}'")
            del self.deployments[0]

    def stage(self, deployment):
        """Replaces what is staged. The commit is that of its content."""
        import hashlib
        content = json.dumps([deployment["digest"], deployment["packages"], deployment["base_removals"]])
        checksum = hashlib.sha256(content.encode()).hexdigest()
        self.discard_staged()
        serials = [each["serial"] for each in self.deployments if each["checksum"] == checksum]
        self.deployments.insert(0, {**deployment, "checksum": checksum, "serial": max(serials, default=-1) + 1, "booted": False, "staged": True,
                                    "pinned": False})

    def finalize(self):
        """/etc is merged: a file that the machine has changed stays, others are those of the new image."""
        first = self.deployments[0]
        if not first["staged"]:
            return
        kept = [each for each in self.deployments if each is first or each["booted"] or each["pinned"]]
        for each in self.deployments:
            if each not in kept:
                os.system(f"rm -rf '{folder_of(each)}'")
        target = folder_of(first)
        copy_tree(pathlib.Path("/etc"), target / "etc")
        old, new = self.image(self.booted["digest"])["etc"], self.image(first["digest"])["etc"]
        for path, text in new.items():
            place = target / "etc" / path
            if not place.exists() or place.read_text() == old.get(path):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
        pathlib.Path(f"{target}.origin").write_text(f"[origin]\ncontainer-image-reference={first['image']}\n")
        first["staged"] = False
        self.state["deployments"] = kept

    def refuse_without_network(self, what):
        if self.state["is_offline"]:
            raise Refused(f"{what}: dial tcp: lookup: Temporary failure in name resolution", 125)

    # ---- images --------------------------------------------------------------------------------------------------------

    def pull(self, reference, logins):
        """From the first server of registries.conf that has it."""
        registry = reference.split("/")[0]
        name, _, digest = reference.partition("@")
        servers = mirrors_of(name) + [name]
        for place in servers:
            server = place.split("/")[0]
            self.state["asked"].append(server)
            if server in self.state["down"]:
                continue
            self.refuse_without_network(f"pinging container registry {server}")
            if server in self.state["protected"] and f"{server}" not in logins:
                raise Refused(f"reading manifest {digest} in {name}: unauthorized: authentication required", 125)
            if digest in self.state["images"]:
                return digest
            raise Refused(f"reading manifest {digest} in {name}: manifest unknown", 125)
        raise Refused(f"pinging container registry {registry}: connection refused", 125)

    def stored(self, reference):
        if reference not in self.state["storage"]:
            raise Refused(f'reference "[overlay@/var/lib/containers/storage]{reference}" does not resolve to an image ID: identifier is not an '
                          "image")
        return reference.partition("@")[2]


def mirrors_of(name):
    conf = os.environ.get("CONTAINERS_REGISTRIES_CONF", "/etc/containers/registries.conf")
    found, prefix = [], ""
    if not os.path.exists(conf):
        return found
    is_mirror = False
    for line in pathlib.Path(conf).read_text().splitlines():
        if line.startswith("[["):
            is_mirror = line == "[[registry.mirror]]"
        elif match := re.fullmatch(r'location = "(.*)"', line):
            if not is_mirror:
                prefix = match[1]
            elif name == prefix or name.startswith(prefix + "/"):
                found.append(match[1] + name[len(prefix):])
    return found


def accepts_any(transport):
    path = pathlib.Path("/etc/containers/policy.json")
    policy = json.loads(path.read_text()) if path.exists() else {"default": [{"type": "insecureAcceptAnything"}]}
    scopes = policy.get("transports", {}).get(transport, {})
    return [{"type": "insecureAcceptAnything"}] in (policy["default"], scopes.get(""))


# ---- rpm-ostree --------------------------------------------------------------------------------------------------------

def repository_packages(machine):
    """Names of the packages of all enabled repositories."""
    import configparser
    names = set()
    for path in sorted(pathlib.Path("/etc/yum.repos.d").glob("*.repo")):
        parser = configparser.ConfigParser()
        parser.read(path)
        for section in parser.sections():
            if parser.get(section, "enabled", fallback="1") != "1":
                continue
            url = parser.get(section, "baseurl")
            if not url.startswith("file://"):
                if machine.state["is_offline"]:
                    raise Refused(f"error: cannot update repo '{section}': Cannot download repomd.xml: All mirrors were tried")
                continue
            folder = pathlib.Path(url.removeprefix("file://"))
            if not (folder / "repodata/repomd.xml").exists():
                raise Refused(f"error: cannot update repo '{section}': Cannot download repomd.xml: {folder}: No such file or directory")
            names |= {file.name.rsplit("-", 2)[0] for file in folder.glob("*.rpm")}
    return names


def resolve(machine, deployment):
    base = set(machine.base_packages(deployment))
    missing = [name for name in deployment["packages"] if name not in base]
    if missing:
        missing = [name for name in missing if name not in repository_packages(machine)]
    if missing:
        raise Refused(f"error: Packages not found: {', '.join(missing)}")
    kernels = [name for name in ("kernel-core", "kernel-rt-core")
               if (name in base and name not in deployment["base_removals"]) or name in deployment["packages"]]
    if len(kernels) != 1:
        raise Refused(f"error: Could not depsolve transaction; {len(kernels)} kernels: {' '.join(kernels)}")


def rpm_ostree_status(machine, words):
    options = Options(words, {"--json", "--booted", "-v", "--verbose"})
    assert "--json" in options.flags, "only --json"

    def entry(deployment):
        found = {name: deployment[name] for name in ("osname", "checksum", "serial", "booted", "staged", "pinned")}
        return {**found, "id": f"{deployment['osname']}-{deployment['checksum']}.{deployment['serial']}", "unlocked": "none",
                "container-image-reference": deployment["image"], "container-image-reference-digest": deployment["digest"],
                "version": machine.image(deployment["digest"])["version"], "requested-packages": deployment["packages"],
                "requested-base-removals": deployment["base_removals"], "requested-local-packages": [], "base-removals": [],
                "base-local-replacements": [], "requested-base-local-replacements": [], "packages": deployment["packages"],
                "regenerate-initramfs": False, "timestamp": 1674005544}
    print(json.dumps({"deployments": [entry(each) for each in machine.deployments], "transaction": None, "cached-update": None,
                      "update-driver": None}))


def rebase(machine, words):
    options = Options(words, {"--experimental", "--download-only", "--cache-only", "-C", "--skip-purge", "--bypass-driver"}, {"--install", "--uninstall"})
    if len(options.rest) != 1:
        raise Refused("error: Must specify refspec, or -b branch or -r remote")
    if machine.state["update_driver"] and "--bypass-driver" not in options.flags:
        raise Refused(f"error: Updates and deployments are driven by {machine.state['update_driver']}\n"
                      "See the documentation of the driver, or use --bypass-driver to bypass it")
    reference, current = options.rest[0], machine.deployments[0]
    if reference == current["image"]:
        raise Refused(f"error: Old and new refs are equal: {reference}")
    scheme, _, image = reference.partition(":")
    if scheme == "ostree-image-signed" and accepts_any("docker"):
        raise Refused("error: Preparing import: Fetching manifest: containers-policy.json specifies a default of `insecureAcceptAnything`; "
                      "refusing usage")
    if scheme == "ostree-unverified-registry":
        auth = next((path for path in ("/run/ostree/auth.json", "/etc/ostree/auth.json") if os.path.exists(path)), None)
        try:
            digest = machine.pull(image, read_logins(auth))
        except Refused as refused:
            raise Refused(f"error: Creating importer: failed to invoke method OpenImage: {refused}") from refused
    elif scheme == "ostree-unverified-image" and image.startswith(IN_STORAGE):
        if not accepts_any("containers-storage"):
            raise Refused("error: Creating importer: failed to invoke method OpenImage: Source image rejected: Running image "
                          f"{image} is rejected by policy.")
        try:
            digest = machine.stored(image.removeprefix(IN_STORAGE))
        except Refused as refused:
            raise Refused(f"error: Creating importer: failed to invoke method OpenImage: {refused}") from refused
    else:
        raise Refused(f"error: Invalid signature source or transport: {reference}")
    if not machine.image(digest)["packages"]:
        raise Refused(f"error: Preparing import: Fetching manifest: {image} is not an ostree container: missing label ostree.bootable")
    new = {**current, "image": reference, "digest": digest,
           "packages": [name for name in current["packages"] if name not in options.of("--uninstall")] + options.of("--install")}
    resolve(machine, new)
    print(f"Importing: {reference} (digest: {digest})")
    if "--download-only" in options.flags:
        print("Downloaded.")
        return
    machine.stage(new)
    print('Changes queued for next boot. Run "systemctl reboot" to start a reboot')


def read_logins(path):
    return json.loads(pathlib.Path(path).read_text())["auths"] if path and os.path.exists(path) else {}


def change_packages(machine, added, removed, is_idempotent=False, allows_inactive=False):
    current = machine.deployments[0]
    packages = list(current["packages"])
    for name in removed:
        if name not in packages:
            raise Refused(f"error: Package/capability '{name}' is not currently requested")
        packages.remove(name)
    for name in added:
        if name in packages:
            if is_idempotent:
                continue
            raise Refused(f"error: Package/capability '{name}' is already requested")
        if name in machine.base_packages(current) and not allows_inactive:
            raise Refused(f'error: "{name}" is already provided by: {name}. Use --allow-inactive to explicitly require it.')
        packages.append(name)
    return {**current, "packages": packages}


def install(machine, words):
    options = Options(words, {"--idempotent", "--allow-inactive", "--cache-only", "-C"}, {"--uninstall"})
    if not options.rest:
        raise Refused("error: At least one PACKAGE must be specified")
    new = change_packages(machine, options.rest, options.of("--uninstall"), "--idempotent" in options.flags, "--allow-inactive" in options.flags)
    resolve(machine, new)
    machine.stage(new)


def uninstall(machine, words):
    options = Options(words, {"--idempotent"}, {"--install"})
    new = change_packages(machine, options.of("--install"), options.rest)
    resolve(machine, new)
    machine.stage(new)


def override(machine, words):
    verb, options = words[0], Options(words[1:], {"--cache-only", "-C"}, {"--install", "--uninstall"})
    if verb not in ("remove", "reset"):
        raise Refused(f"error: Unknown 'override' command '{verb}'")
    if not options.rest:
        raise Refused("error: At least one PACKAGE must be specified")
    new = change_packages(machine, options.of("--install"), options.of("--uninstall"))
    removals = list(new["base_removals"])
    for name in options.rest:
        if verb == "remove":
            if name not in machine.base_packages(new):
                raise Refused(f'error: Package "{name}" not found in base')
            if name in removals:
                raise Refused(f"error: Override already exists for package '{name}'")
            removals.append(name)
        elif name in removals:
            removals.remove(name)
        else:
            raise Refused(f"error: No overrides for package '{name}'")
    new["base_removals"] = removals
    resolve(machine, new)
    machine.stage(new)


def kargs(machine, words):
    options = Options(words, {"--unchanged-exit-77"}, {"--append", "--append-if-missing", "--delete", "--delete-if-present"})
    if options.rest:
        raise Refused("error: Unknown argument")
    new = list(machine.deployments[0]["kargs"])
    for argument in options.of("--delete"):
        if argument not in new:
            raise Refused(f"error: No karg '{argument}' found")
        new.remove(argument)
    for argument in options.of("--delete-if-present"):
        if argument in new:
            new.remove(argument)
    new += options.of("--append") + [each for each in options.of("--append-if-missing") if each not in new]
    if not options.values:
        print(" ".join(new))
    elif new == machine.deployments[0]["kargs"]:
        print("No changes.")
        sys.exit(77 if "--unchanged-exit-77" in options.flags else 0)
    else:
        machine.stage({**machine.deployments[0], "kargs": new})


def rollback(machine):
    others = [each for each in machine.deployments if not each["staged"]]
    if len(others) < 2:
        raise Refused("error: Found 1 deployments, at least 2 required for rollback")
    if not others[0]["booted"]:
        booted = next(index for index, each in enumerate(others) if each["booted"])
        others.insert(0, others.pop(booted))
    else:
        others.insert(0, others.pop(1))
    machine.state["deployments"] = others


def rpm_ostree(machine, words):
    if not words:
        raise Refused("error: No command specified")
    verb, rest = words[0], words[1:]
    if verb == "cleanup":
        options = Options(rest, {"--pending", "-p"})
        if not options.flags:
            raise Refused("error: At least one cleanup option must be specified")
        machine.discard_pending()
    elif verb == "rollback":
        Options(rest)
        rollback(machine)
    else:
        verbs = {"status": rpm_ostree_status, "rebase": rebase, "install": install, "uninstall": uninstall, "override": override, "kargs": kargs}
        if verb not in verbs:
            raise Refused(f"error: Unknown command '{verb}'")
        verbs[verb](machine, rest)


# ---- bootc -------------------------------------------------------------------------------------------------------------

def bootc(machine, words):
    wrong = {"unknown": "error: unexpected argument '{}' found", "status": 2}
    verb, rest = (words + [""])[0], words[1:]
    if verb == "status":
        Options(rest, {"--json"}, {"--format-version"}, **wrong)
        bootc_status(machine)
    elif verb == "switch":
        switch(machine, Options(rest, {"--quiet", "--retain", "--enforce-container-sigpolicy"}, {"--transport"}, **wrong))
    elif verb == "rollback":
        Options(rest, {"--apply"}, **wrong)
        try:
            rollback(machine)
        except Refused as refused:
            raise Refused("error: No rollback available") from refused
    else:
        raise Refused(f"error: unrecognized subcommand '{verb}'", 2)


def is_incompatible(deployment):
    return bool(deployment["packages"] or deployment["base_removals"])


def bootc_status(machine):
    def entry(deployment):
        if not deployment:
            return None
        image = deployment["image"].removeprefix(IN_STORAGE)
        transport = "registry" if image == deployment["image"] else "containers-storage"
        return {"image": {"image": {"image": image, "transport": transport}, "version": machine.image(deployment["digest"])["version"],
                          "timestamp": None, "imageDigest": deployment["digest"], "architecture": "amd64"},
                "cachedUpdate": None, "incompatible": is_incompatible(deployment), "pinned": deployment["pinned"], "downloadOnly": False,
                "softRebootCapable": False, "store": "ostreeContainer", "composefs": None,
                "ostree": {"stateroot": deployment["osname"], "checksum": deployment["checksum"], "deploySerial": deployment["serial"]}}
    written = [each for each in machine.deployments if not each["staged"]]
    staged = next((each for each in machine.deployments if each["staged"]), None)
    other = next((each for each in written if not each["booted"]), None)
    print(json.dumps({"apiVersion": "org.containers.bootc/v1", "kind": "BootcHost", "metadata": {"name": "host"},
                      "spec": {"image": None, "bootOrder": "default"},
                      "status": {"staged": entry(staged), "booted": entry(machine.booted), "rollback": entry(other),
                                 "rollbackQueued": bool(other) and not written[0]["booted"], "type": "bootcHost"}}))


def switch(machine, options):
    if len(options.rest) != 1:
        raise Refused("error: the following required arguments were not provided:\n  <TARGET>", 2)
    if is_incompatible(machine.booted):
        raise Refused("error: Switching: Deployment contains local rpm-ostree modifications; cannot upgrade via bootc. You can run `rpm-ostree "
                      "reset` to undo the modifications.")
    transport, image = (options.of("--transport") or ["registry"])[0], options.rest[0]
    try:
        if transport == "registry":
            auth = next((path for path in ("/run/ostree/auth.json", "/etc/ostree/auth.json") if os.path.exists(path)), None)
            digest, reference = machine.pull(image, read_logins(auth)), image
        elif transport == "containers-storage":
            digest, reference = machine.stored(image), IN_STORAGE + image
        else:
            raise Refused(f"error: invalid value '{transport}' for '--transport <TRANSPORT>'", 2)
    except Refused as refused:
        raise Refused(f"error: Switching: Preparing import: failed to invoke method OpenImage: {refused}", min(refused.status, 2)) from refused
    machine.stage({**machine.booted, "image": reference, "digest": digest, "kargs": machine.booted["kargs"] + machine.image(digest)["kargs"]})


# ---- ostree, podman, systemctl, nsenter --------------------------------------------------------------------------------

def ostree(machine, words):
    if words[:2] == ["admin", "undeploy"]:
        index = int(words[2])
        if machine.deployments[index]["booted"]:
            raise Refused("error: Cannot undeploy currently booted deployment")
        del machine.deployments[index]
    elif words[:2] == ["admin", "deploy"]:
        options = Options(words[2:], {"--stage"}, {"--os", "--origin-file"})
        found = [each for each in machine.deployments if each["checksum"] == options.rest[0]]
        if not found:
            raise Refused(f"error: No such metadata object {options.rest[0]}.commit")
        assert "--stage" in options.flags and os.path.exists(options.of("--origin-file")[0]), words
        machine.stage(found[0])
    elif words[:2] == ["admin", "status"]:
        for each in machine.deployments:
            print(f"{'*' if each['booted'] else ' '} {each['osname']} {each['checksum']}.{each['serial']}{' (staged)' if each['staged'] else ''}")
    else:
        raise Refused(f"error: Unknown command {words}")


def podman(machine, words):
    unknown = {"unknown": "Error: unknown flag: {}", "status": 125}
    storage = machine.state["storage"]
    if words[0] == "pull":
        options = Options(words[1:], {"--quiet"}, {"--authfile", "--cert-dir"}, **unknown)
        reference, auth = options.rest[0], options.of("--authfile")
        if auth and os.stat(auth[0]).st_mode & 0o077:
            raise Refused(f"Error: {auth[0]} can be read by others", 125)
        try:
            machine.pull(reference, read_logins(auth[0] if auth else None))
        except Refused as refused:
            raise Refused(f"Error: initializing source docker://{reference}: {refused}", 125) from refused
        finally:
            machine.save()
        if not accepts_any("docker"):
            raise Refused("Error: copying system image from manifest list: Source image rejected: A signature was required, but no signature exists", 125)
        storage[reference] = {}
    elif words[:2] == ["image", "exists"]:
        sys.exit(0 if words[2] in storage else 1)
    elif words[:2] == ["image", "rm"]:
        options = Options(words[2:], {"--force"}, **unknown)
        if options.rest[0] not in storage:
            raise Refused(f"Error: {options.rest[0]}: image not known", 1)
        del storage[options.rest[0]]
    elif words[0] == "create":
        options = Options(words[1:], (), {"--name", "--pull"}, **unknown)
        name, image = options.of("--name")[0], options.rest[0]
        if name in machine.state["containers"]:
            raise Refused(f'Error: creating container storage: the container name "{name}" is already in use', 125)
        if image not in storage:
            raise Refused(f"Error: {image}: image not known", 125)
        machine.state["containers"][name] = image
    elif words[0] == "cp":
        container, _, path = words[1].partition(":")
        digest = machine.state["containers"][container].partition("@")[2]
        files = machine.image(digest).get("files", {})
        found = {name.removeprefix(path.removesuffix(".")): text for name, text in files.items() if name.startswith(path.removesuffix("."))}
        if not found:
            raise Refused(f'Error: "{path}" could not be found on container {container}: no such file or directory', 125)
        for name, text in found.items():
            place = pathlib.Path(words[2]) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    elif words[0] == "rm":
        options = Options(words[1:], {"--force", "--ignore"}, **unknown)
        if not machine.state["containers"].pop(options.rest[0], None) and "--ignore" not in options.flags:
            raise Refused(f"Error: no container with ID or name \"{options.rest[0]}\" found: no such container", 1)
    else:
        raise Refused(f"Error: unrecognized command `podman {words[0]}`", 125)


def systemctl(machine, words):
    service = "ostree-finalize-staged.service"
    if words == ["start", service]:
        machine.state["is_finalizer_active"] = True
    elif words == ["stop", service]:
        if machine.state["is_finalizer_active"] and machine.state["can_finalize"]:
            machine.finalize()
        machine.state["is_finalizer_active"] = False
    elif words[0] == "list-units":
        print("".join(f"{unit} loaded failed failed {unit}\n" for unit in machine.state["failed_units"]), end="")
    elif words == ["reboot"]:
        machine.state["wants_reboot"] = True
    elif words[0] in ("--no-reload", "--root"):
        os.execve("/usr/hostbin/systemctl", ["systemctl", *words], {**os.environ, "SYSTEMD_OFFLINE": "1"})


def nsenter(_, words):
    """The machine's mounts are those of the caller."""
    command = words[words.index("--") + 1:]
    os.execv(command[0], command)


def main():
    name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
    programs = {"rpm-ostree": rpm_ostree, "bootc": bootc, "ostree": ostree, "podman": podman, "systemctl": systemctl, "nsenter": nsenter}
    if name == "nsenter":
        nsenter(None, words)
    with open("/state.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        machine = Machine()
        machine.state["journal"].append(" ".join([name, *words]))
        kill = machine.state["kill"]
        if kill:
            kill["left"] -= 1
        machine.save()
        is_killed = bool(kill) and kill["left"] == 0
        if is_killed and kill["when"] == "before":
            os.kill(os.getppid(), signal.SIGKILL)
            return 137
        status = 0
        try:
            programs[name](machine, words)
        except Refused as refused:
            print(refused, file=sys.stderr)
            status = refused.status
        else:
            machine.save()
        if is_killed:
            os.kill(os.getppid(), signal.SIGKILL)
        return status
