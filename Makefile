# The two commands of the README: `make probe` and `make test`. Both install what is missing (scripts/setup says what).

SHELL := /bin/bash
export PATH := $(HOME)/.cargo/bin:$(PATH)

RELEASE := target/release/plimsoll
# Where `make probe` keeps its own file and its answer. TARGET=/path/to/dir probes another place.
TARGET ?= target/probe
LIMIT ?= p99<10ms
BUDGET ?= 60s

.PHONY: help probe build test test-lab lab-shell check dist bench bpf clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

probe: build ## find the load line of the storage below this folder: the main job, on a real file
	@mkdir -p $(TARGET)
	@$(RELEASE) probe $(TARGET) --limit '$(LIMIT)' --budget $(BUDGET) --out target/runs/$$(date +%Y%m%d-%H%M%S)

build: ## build the release binary
	@scripts/setup build
	@cargo build --release --locked -p plimsoll

check: ## formatting and lints
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --locked -- -D warnings

test: ## set up and run all tests
	@scripts/setup test
	@if cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; then $(MAKE) --no-print-directory check; \
	 else echo 'skipped: formatting and lints (rustfmt or clippy is not installed)'; fi
	@cargo build --locked -p plimsoll
	@cargo test --workspace --locked
	@scripts/test-lab --short

test-lab: ## all rigs of the lab (virtual machines) against what is known; RIG=text chooses
	@scripts/setup lab
	@scripts/test-lab --all $(if $(RIG),--only '$(RIG)')

lab-shell: ## a shell inside a rig: make lab-shell RIG=lun-depth-4
	@test -n '$(RIG)' || { echo 'usage: make lab-shell RIG=name (scripts/lab list shows them)'; exit 2; }
	@scripts/setup lab
	@scripts/lab shell '$(RIG)'

dist: ## build the one static binary and show that it needs no library
	@scripts/setup build
	@scripts/dist

bench: ## compare with peers side by side
	@scripts/setup bench
	@cargo build --release --locked -p plimsoll -p bench
	@target/release/bench all

bpf: ## compile the kernel side of the tracer anew (after a change to its source)
	@scripts/setup bpf
	@scripts/bpf

clean: ## remove what was built
	@cargo clean
