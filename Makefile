# The few commands of this project; each installs what it needs first. `make help` lists them.

build := $(CURDIR)/build
programs := $(build)/cpp/release/bin
release := $(build)/release

.PHONY: programs payload demo demo-destroy test test-long bench bench-install fuzz packages help
.DEFAULT_GOAL := programs

programs: packages ## the C++ programs, optimized, in build/cpp/release/bin
	@tools/build release slipway slipway-operator slipway-node

payload: programs ## Kubernetes, etcd and the rest from source, the images and the release, in build/release
	@$(MAKE) --no-print-directory -C payload all BUILD=$(build) SLIPWAY_OPERATOR=$(programs)/slipway-operator

demo: payload ## builds everything, installs a cluster on local machines with an application on it, and leaves it running
	@tools/demo $(programs) $(release)

demo-destroy: ## removes the demo's cluster
	@SLIPWAY_STATE=$(build)/machines $(programs)/slipway destroy cluster --dir $(build)/demo

test: payload ## every test, with the costs of each part at the end
	@tools/test

test-long: payload ## what takes hours: installations that are disturbed (COUNT=20 of them, SEED=NUMBER the first), every fault
	@tools/test-long $(or $(COUNT),5) $(SEED)

bench: payload ## figures and ratios (docs/benchmarks.md)
	@tools/build release bench bench_http_server
	@tests/bench/run

bench-install: payload ## three installations beside the recorded one; ROUNDS=1, RECORD=1, SLIPWAY_FLOOR=FOLDER as in tests/bench/install
	@tests/bench/install $(programs) $(build)

fuzz: packages ## each fuzz target for a minute; SECONDS_EACH=600 for longer
	@tools/fuzz $(or $(SECONDS_EACH),60)

packages: ## the Debian packages in packages.txt
	@tools/install-packages packages.txt

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
