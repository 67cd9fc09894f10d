# Every target works from a fresh clone with Go and, where said, redis-server,
# moto_server, the AWS CLI, gcloud and Chromium. `make help` lists them.

# The one place where golangci-lint's version is pinned.
GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := $(CURDIR)/.bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

# Directories of all modules of the workspace; a new module only has to be
# added to go.work.
MODULES = $(shell go list -m -f '{{.Dir}}')

FUZZTIME ?= 20s
BENCHTIME ?= 1s

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build every package, and the command into dist/
	go build work
	go build -o dist/cloudpace ./cmd/cloudpace

.PHONY: redis
redis:
	@command -v redis-server >/dev/null || { echo "installing redis-server, which tests start"; apt-get update -qq && apt-get install -y -qq redis-server; } \
		|| { echo "redis-server is not installed: tests of the package fleet start real ones"; exit 1; }

.PHONY: test
test: redis ## vet and test every module, with the race detector (installs redis-server if it is missing)
	go vet work
	go test -race -timeout 20m work

.PHONY: scenarios
scenarios: ## hold the controller that learns to 300 random servers, without the race detector
	go test -count=1 -run Learn -v ./internal/scenario

.PHONY: e2e
e2e: ## map a seeded moto_server, compare with the AWS CLI, open the report
	go test -race -tags e2e -count=1 -timeout 15m -v ./cmd/cloudpace/e2e

.PHONY: map-moto
map-moto: ## start moto_server, seed it, map it into cloudpace-out/
	./cmd/cloudpace/e2e/map-moto.sh

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/.bin GOFLAGS= GOWORK=off go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv .bin/golangci-lint $@

.PHONY: lint
lint: $(GOLANGCI_LINT) ## run golangci-lint in every module, and see whether go.mod is tidy
	@failed=; for dir in $(MODULES); do \
		echo "lint $$dir"; \
		(cd $$dir && $(GOLANGCI_LINT) run ./... && go mod tidy -diff) || failed=1; \
	done; test -z "$$failed"

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## format every module, and tidy its go.mod
	@set -e; for dir in $(MODULES); do (cd $$dir && $(GOLANGCI_LINT) fmt ./... && go mod tidy); done

.PHONY: cross
cross: ## build and vet (tests included) for Windows and macOS
	@set -e; for os in windows darwin; do \
		echo "GOOS=$$os go vet work"; GOOS=$$os go vet work; \
		echo "GOOS=$$os go vet -tags e2e ./cmd/cloudpace/e2e"; GOOS=$$os go vet -tags e2e ./cmd/cloudpace/e2e; \
		echo "GOOS=$$os go build ./cmd/cloudpace"; GOOS=$$os go build -o /dev/null ./cmd/cloudpace; \
	done

.PHONY: bench
bench: ## run every benchmark, with allocations
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) work

.PHONY: benchmarks
benchmarks: ## compare with other libraries, and write docs/benchmarks.md (ten minutes)
	go run ./bench/report

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each (20s)
	@set -e; for pkg in $$(go list work); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

.PHONY: ci
ci: ## what runs for every change
	bash .ci/run
