# Building needs Go and make, nothing else; the page's tests also Node and Chromium (see
# page-tools). "make help" lists the targets.

GO      ?= go
BIN     := $(CURDIR)/bin
MODULE  := github.com/lockstep-workflows/lockstep

# Tools, at exact versions. Each is built into ./bin once, under a name that
# carries its version, so that a new version here builds anew.
STATICCHECK := $(BIN)/staticcheck-0.8.2
GOFUMPT     := $(BIN)/gofumpt-0.12.0
GOVULNCHECK := $(BIN)/govulncheck-1.8.0
TESTCOUNT   := $(BIN)/testcount

FUZZTIME ?= 30s
CHECKS   ?= 20000
CASES    ?= 100000
KILLS    ?= 1000
BURST    ?= 10000
SEEDS    ?= 20000
ORDERS   ?= 10000
TESTARGS ?=
VERSION  ?=
VULNDB   ?= https://vuln.go.dev
BENCH    ?=

# On a build server every test runs anew.
ifeq ($(CI),true)
TESTARGS += -count=1
endif

# The race detector needs a C compiler. Without one the same tests run unwatched. SQLite itself is not
# watched: it is C translated to Go, keeps its data outside of what the detector sees, and would take
# five times as long.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC | cut -d' ' -f1)" >/dev/null && echo -race -gcflags=modernc.org/...=-race=false)

# Packages with goroutines, or that their callers use from several at once.
RACING  = ^$(MODULE)($$|/(internal/)?(cli|client|cmd|core|effect|engine|event|scenario|server|store)(/|$$))
RACY    = $(call longest-first,$(shell $(GO) list ./... | grep -E '$(RACING)'))
PLAIN   = $(call longest-first,$(shell $(GO) list ./... | grep -vE '$(RACING)'))
# Packages run two or more at a time. Those that take minutes begin first: last, they would run alone.
LONGEST = $(addprefix $(MODULE)/internal/,store/postgres engine sim/cluster sim ui)
longest-first = $(filter $(1),$(LONGEST)) $(filter-out $(LONGEST),$(1))
USERAPID = $(shell $(GO) list -f '{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}} {{end}}{{end}}' ./... | tr ' ' '\n' | sort -u)

.PHONY: release release-check help build test race lint fmt fuzz bench bench-scale bench-curves bench-nodes soak cover vuln clean ui ui-check gallery page-tools postgres
.DEFAULT_GOAL := build

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## build bin/lockstep
	$(GO) build -o $(BIN)/lockstep ./cmd/lockstep

test: $(TESTCOUNT) postgres ## vet, then every test: units, conformance, command line, the page in a browser
	@.ci/page-tools || true # the page's tests fail by themselves then, the others run
	@$(GO) vet ./...
	@[ -n "$(RACE)" ] || echo "no C compiler: the race detector is off"
	@$(TESTCOUNT) "-vet=off $(RACE) -timeout 30m $(TESTARGS) $(RACY)" "-vet=off -timeout 30m $(TESTARGS) $(PLAIN)"

race: $(TESTCOUNT) postgres ## every test under the race detector
	@[ -n "$(RACE)" ] || { echo "the race detector needs a C compiler"; exit 1; }
	@.ci/page-tools || true
	@$(TESTCOUNT) "-vet=off $(RACE) -timeout 30m $(TESTARGS) ./..."

ui: ## build the page into internal/ui/dist, which is committed
	cd internal/ui && npm ci --ignore-scripts --no-audit --no-fund && npm run build

ui-check: page-tools ## build the page elsewhere and compare it with internal/ui/dist
	@elsewhere=$$(mktemp -d) && trap 'rm -rf "$$elsewhere"' EXIT && \
	  (cd internal/ui && npx tsc --noEmit && npx vite build --logLevel warn --outDir "$$elsewhere" --emptyOutDir) && \
	  diff -r "$$elsewhere" internal/ui/dist || { echo 'internal/ui/dist is not what internal/ui/src gives; run make ui and commit it'; exit 1; }

gallery: page-tools ## pictures of every screen of the page with large data, in internal/ui/test/screenshots/gallery
	cd internal/ui && node test/gallery.mjs

postgres: ## the PostgreSQL server, the PgBouncer and the Python that tests start, where they are missing
	@.ci/postgres-tools || true # the tests that need them fail by themselves then, the others run

page-tools: ## what the page is built and tested with: Node packages, Chromium
	@.ci/page-tools

lint: $(STATICCHECK) $(GOFUMPT) ## go vet, staticcheck, gofumpt, lockstep fmt
	$(GO) vet ./...
	$(STATICCHECK) ./...
	@unformatted=$$($(GOFUMPT) -l .); [ -z "$$unformatted" ] || { echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; }
	$(GO) run ./cmd/lockstep fmt --check examples

vuln: $(GOVULNCHECK) ## look up known vulnerabilities of what the programs use, in VULNDB (https://vuln.go.dev)
	@$(GOVULNCHECK) -db $(VULNDB) ./... || { code=$$?; [ $$code = 3 ] || echo "not checked: govulncheck needs to read $(VULNDB); VULNDB=file:///FOLDER names a copy"; exit $$code; }

fmt: $(GOFUMPT) ## format the code
	$(GOFUMPT) -w .

fuzz: ## each fuzz target for FUZZTIME (30s)
	@GO='$(GO)' .ci/fuzz $(FUZZTIME)

bench: $(if $(BENCH),,postgres) ## the table of all loads on both stores, with floors and targets (bench/README.md); with BENCH=. instead the Go benchmarks that it matches
	$(if $(BENCH),$(GO) test -vet=off -run '^$$' -bench '$(BENCH)' -benchmem ./...,$(GO) run ./bench)

bench-scale: ## a foreach over 100,000 items, 1,000,000 waiting instances, a start after kill -9 with 100,000 live ones
	$(GO) run ./bench -foreach 100000
	$(GO) run ./bench -waiting 1000000
	$(GO) run ./bench -recover 100000

bench-curves: ## how costs grow with what there is, as pictures in docs/curves (docs/performance.md)
	$(GO) run ./bench -curves docs/curves

bench-nodes: postgres ## one, two and three servers on one PostgreSQL: throughput, and where the time goes
	$(GO) run ./bench -store postgres -nodes 1,2,3 -time 20s

soak: ## property tests CHECKS times (20000), CASES (100000) of the oracle, SEEDS (20000) of the simulated cluster, every planted bug, every image of a crash, ORDERS (10000) orders of three concurrent writes to PostgreSQL, a server killed at each of its writes, and KILLS (1000) times under load with workflows of each dialect, a campaign of 1000 devices, a server attacked by its tenants, three servers harmed for two minutes, BURST (10000) events at once on each store, then every fuzz target for five minutes
	@for package in $(USERAPID); do \
	  $(GO) test -vet=off -count=1 -timeout 2h "$$package" -rapid.checks=$(CHECKS) || exit 1; \
	done
	$(GO) test -vet=off -count=1 -timeout 24h -v ./internal/sim/cluster -run '^TestCluster$$' -sim.seeds=$(SEEDS)
	$(GO) test -vet=off -count=1 -timeout 4h ./internal/sim -sim.cases=$(CASES) -sim.plants
	$(GO) test -vet=off -count=1 -timeout 1h ./internal/store/sqlite -run '^TestCrashImages$$' -crash.all
	$(GO) test -vet=off -count=1 -timeout 4h -v ./internal/store/postgres -run '^TestInterleaved' -interleave.all -interleave.plants -interleave.seeds=$(ORDERS)
	$(GO) test -vet=off -count=1 -timeout 1h ./internal/durability -durability.all
	$(GO) test -vet=off -count=1 -timeout 8h ./cmd/lockstep -run '^TestKilledUnderLoad' -kills=$(KILLS)
	$(GO) test -vet=off -count=1 -timeout 1h ./cmd/lockstep -run '^TestCampaign$$' -campaign.devices=1000
	$(GO) test -vet=off -count=1 -timeout 1h ./internal/engine -run '^TestOverPostgres$$' -engine.postgres
	$(GO) test -vet=off -count=1 -timeout 1h -v ./internal/hostile -hostile.rounds=200
	$(GO) test -vet=off -count=1 -timeout 1h -v ./internal/cluster -cluster.time=2m -cluster.restarts=10 -cluster.burst=$(BURST)
	@$(MAKE) --no-print-directory fuzz FUZZTIME=5m

cover: ## coverage of the tests, by function, and coverage.html
	$(GO) test -vet=off -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -html=coverage.out -o coverage.html
	$(GO) tool cover -func=coverage.out | tail -n 1

release: ## build what is published into dist: programs, Debian packages, an image, checksums (VERSION=v1.2.3)
	$(GO) run ./internal/release -version '$(VERSION)' -out dist

release-check: release ## build it a second time, compare, and install and start what is for this machine
	$(GO) run ./internal/release -version '$(VERSION)' -out dist -check

clean: ## remove what was built and measured
	rm -rf $(BIN) dist coverage.out coverage.html

$(STATICCHECK):
	GOBIN=$(BIN) GOFLAGS= $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	@mv $(BIN)/staticcheck $@

$(GOFUMPT):
	GOBIN=$(BIN) GOFLAGS= $(GO) install mvdan.cc/gofumpt@v0.12.0
	@mv $(BIN)/gofumpt $@

$(GOVULNCHECK):
	GOBIN=$(BIN) GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.8.0
	@mv $(BIN)/govulncheck $@

$(TESTCOUNT): $(wildcard internal/testcount/*.go)
	@$(GO) build -o $@ ./internal/testcount
