# The few commands of this project; each installs what it needs first. `make help` lists them.

build := $(CURDIR)/build
programs := $(build)/cpp/release/bin
release := $(build)/release

.PHONY: programs payload release-key dist demo demo-destroy demo-assisted demo-assisted-destroy demo-agent-based demo-agent-based-destroy check test test-long bench bench-install bench-assist fuzz packages help
.DEFAULT_GOAL := programs

programs: packages ## build the C++ programs, optimized, in build/cpp/release/bin
	@tools/build release slipway slipway-operator slipway-node slipway-assist slipway-agent

payload: programs ## build Kubernetes, etcd and the rest from source, images and the release, in build/release
	@$(MAKE) --no-print-directory -C payload all BUILD=$(build) SLIPWAY_OPERATOR=$(programs)/slipway-operator
	@ln -sfn $(build)/payload/bin/slipway-images $(build)/payload/bin/registry $(CURDIR)/os/commit $(CURDIR)/os/preload $(build)/cpp/release/lib/slipway/
	@for name in build convert live; do ln -sfn $(CURDIR)/os/disk/$$name $(build)/cpp/release/lib/slipway/disk-$$name; done

release-key: packages ## make the key that signs releases, once, in your configuration folder (SLIPWAY_RELEASE_KEY=FILE: another place)
	@tools/release-key

dist: payload ## the Debian package and the release in one file, in build/dist
	@tools/dist $(build)

demo: payload ## build everything and install a cluster on local machines with an application
	@tools/demo $(programs) $(release)

demo-destroy: ## remove the cluster of the demo
	@SLIPWAY_STATE=$(build)/machines $(programs)/slipway destroy cluster --dir $(build)/demo

demo-assisted: payload ## build everything and install a cluster on three local machines that report themselves to the assisted service (HOSTS=1: a single node)
	@tools/demo-assisted --hosts=$(or $(HOSTS),3) $(programs) $(release)

demo-assisted-destroy: ## remove the cluster and the service of demo-assisted
	@tools/demo-assisted --destroy $(programs) $(release)

demo-agent-based: payload ## build everything and install a cluster on three local machines that boot one image, without a service of yours (HOSTS=1: a single node)
	@tools/demo-agent-based --hosts=$(or $(HOSTS),3) $(programs) $(release)

demo-agent-based-destroy: ## remove the cluster of demo-agent-based
	@tools/demo-agent-based --destroy $(programs) $(release)

check: packages ## what to run before each commit: builds what changed, runs the tests that need no payload
	@tools/check

test: payload ## all tests, with the time of each part at the end
	@tools/test

test-long: payload ## long tests: disturbed installations (COUNT=20; SEED=NUMBER is the first), all faults
	@tools/test-long $(or $(COUNT),5) $(SEED)

bench: payload ## measure figures and ratios (docs/benchmarks.md)
	@tools/build release bench bench_http_server
	@tests/bench/run

bench-install: payload ## compare three installations with the recorded one; ROUNDS=1, RECORD=1, SLIPWAY_FLOOR=FOLDER as in tests/bench/install
	@tests/bench/install $(programs) $(build)

bench-assist: programs ## measure the service of assisted installations with 1,000 and 5,000 simulated hosts; HOSTS=1000 SECONDS_EACH=120
	@tests/bench/assist $(programs) $(or $(HOSTS),1000) $(or $(SECONDS_EACH),120)

fuzz: packages ## run each fuzz target for one minute; SECONDS_EACH=600 for longer
	@tools/fuzz $(or $(SECONDS_EACH),60)

packages: ## install the Debian packages of packages.txt
	@tools/install-packages packages.txt

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
