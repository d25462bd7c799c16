# miglab: build, reproduce, test. Go and make are all that is needed.

GO ?= go
PYTHON ?= /usr/bin/python3
WORKERS ?= 0
BIN := bin/miglab
comma := ,
GPUBIN := bin/miglab-gpu
AXE := bin/axe/node_modules/axe-core/axe.min.js
VERSION := $(shell sed -n 's/^version: //p' CITATION.cff)
DIST := miglab-$(VERSION)
# In what dist packs, the file REVISION has the commit.
REVISION = if [ -f REVISION ]; then cp REVISION $(BIN).revision; else git describe --always --abbrev=40 --exclude '*' --dirty=-modified > $(BIN).revision 2>/dev/null || rm -f $(BIN).revision; fi
RELEASE = -ldflags '-X main.release=v$(VERSION)'
# NVML is loaded at run time, so its functions must be looked up when they are called: some linkers do it at the start.
NVML = CGO_ENABLED=1
export CGO_CFLAGS := -O2 -g -Wno-deprecated-declarations
LAZY = -X main.release=v$(VERSION) -extldflags=-Wl,-z,lazy

# Paths of files are no part of what is compiled, so that a second clone compiles nothing. With these tags, net and os/user
# are the same with and without cgo, so that the second of the two builds compiles only what calls NVML.
export GOFLAGS := -trimpath -tags=netgo,osusergo $(filter-out -trimpath -tags=netgo$(comma)osusergo,$(GOFLAGS))

.PHONY: reproduce quick site build dist build-nvml build-gpu kernels train test test-all test-external test-fast test-fuzz test-gpu test-gym test-long test-ground test-platforms test-portable test-processors test-site test-slurm install-slurm install-cbc install-qemu install-torch install-lint bench bench-fast lint readme clean

## reproduce: write every table and figure of the papers into results/; a second run reuses every result
reproduce: build
	@$(BIN) reproduce --workers $(WORKERS)

## quick: the same on few replicates, into results/quick/
quick: build
	@$(BIN) reproduce --quick --workers $(WORKERS)

## site: write leaderboards, claims and schedules as a static web site into results/site. Its page try.html runs bin/try.wasm,
## and is left out where Go cannot build for browsers
site: build
	@try=; CGO_ENABLED=0 GOOS=js GOARCH=wasm $(GO) build -buildvcs=false -o bin/try.wasm -ldflags '-s -w' ./harness/cmd/miglab-wasm && \
		cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin && try='--try bin/try.wasm'; $(BIN) site --workers $(WORKERS) $$try

## build: the program, without cgo. The commit stands in a file beside it: a program that contained it would change, and
## recompute results, with every commit
build:
	@CGO_ENABLED=0 $(GO) build -buildvcs=false -o $(BIN) $(RELEASE) ./harness/cmd/miglab
	@$(REVISION)

## build-nvml: the program with cgo, which MIG needs: it can measure kernels and execute schedules
build-nvml:
	@$(NVML) $(GO) build -buildvcs=false -o $(BIN) -ldflags '$(LAZY)' ./harness/cmd/miglab
	@$(REVISION)

## build-gpu: bin/miglab-gpu, the commands alone that need a GPU, with cgo: 20 MiB to copy to a machine that has only a driver and
## glibc 2.34 or newer (Ubuntu 22.04, RHEL 9)
build-gpu: BIN := $(GPUBIN)
build-gpu:
	@$(NVML) $(GO) build -buildvcs=false -o $(BIN) -ldflags '-s -w $(LAZY)' ./harness/cmd/miglab-gpu
	@$(REVISION)

## dist: bin/miglab-VERSION.tar.gz, the files of the commit and all modules, which builds without a network, and
## bin/SHA256SUMS. The same commit gives the same bytes
dist:
	rm -rf bin/$(DIST)
	mkdir -p bin
	git archive --prefix=$(DIST)/ HEAD | tar -x -C bin
	git rev-parse HEAD > bin/$(DIST)/REVISION
	cd bin/$(DIST) && $(GO) mod vendor
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --mtime=@$$(git log -1 --format=%ct) -C bin -cf - $(DIST) | gzip -n > bin/$(DIST).tar.gz
	rm -r bin/$(DIST)
	cd bin && sha256sum $(DIST).tar.gz > SHA256SUMS

## kernels: our own CUDA kernels as programs, into profiling/kernels/bin; needs nvcc, while miglab kernel needs only a driver
kernels:
	@$(MAKE) --no-print-directory -C profiling/kernels

## train: train every agent again and put the weights into the source; takes about 9 core hours with AVX-512, twice
## as many with AVX2, several times as many without
train:
	CGO_ENABLED=0 GOEXPERIMENT=simd $(GO) build -o $(BIN)-train ./harness/cmd/miglab
	$(BIN)-train train --all --workers $(WORKERS) --out results/train-all
	for run in results/train-all/*-seed*; do \
		name=$${run##*/}; agent=$${name%-seed*}; \
		cp $$run/curve.csv algorithms/rl/train/curve/runs/$$name.csv || exit; \
		weights=algorithms/rl/agents/weights/$${name%-seed1}.weights; \
		if test -e $$weights; then cp $$run/$$agent.weights $$weights || exit; fi; \
	done

## test: every kind of check that Go alone can do, on small numbers
TESTED = ./...
test:
	$(GO) vet ./...
	MAKEFLAGS= $(GO) test -vet=off -timeout 30m $(PARALLEL) $(TESTED)

## test-all: everything, also what needs more than Go: linters, builds with and without cgo, C and C++ compilers, the fast
## kernels, Python with numpy, a browser, Slurm, CBC. Each package is tested once with cgo. What the results rest on, the
## referee, the simulators, the bounds and the database, is tested on large numbers, and the rest on those of test
GROUND = ./bounds/... ./harness/schedule ./harness/sim/... ./harness/stats ./harness/store ./harness/task ./harness/work
# Tests on a stub of NVML mostly wait, so that more of them than there are processors run at a time.
test-all: PARALLEL = -parallel 6
test-all: TESTED = $$($(GO) list ./... | grep -vxF "$$($(GO) list $(GROUND))")
test-all: export CGO_ENABLED = 1
test-all: export MIGLAB_REQUIRE_BROWSER = 1
test-all: export MIGLAB_REQUIRE_SLURM = 1
test-all: export MIGLAB_REQUIRE_CBC = 1
test-all: export MIGLAB_REQUIRE_EXTERNAL = 1
test-all: export MIGLAB_REQUIRE_CC = 1
test-all: export MIGLAB_REQUIRE_CLANG = 1
test-all: export MIGLAB_AXE = $(addprefix $(CURDIR)/,$(wildcard $(AXE)))
test-all: $(if $(shell PATH="$$PATH:/usr/sbin" command -v slurmctld),,install-slurm) $(if $(shell command -v cbc),,install-cbc) $(AXE) test test-ground lint test-portable test-fast test-gym test-processors

## test-ground: what all results rest on, on large numbers
test-ground:
	MIGLAB_DEEP=1 $(GO) test -vet=off -timeout 30m $(GROUND)

## test-site: the web site in a headless Chromium, where axe-core looks for what keeps people from reading it, and
## test-external
test-site: test-external $(AXE)
	MIGLAB_REQUIRE_BROWSER=1 MIGLAB_AXE=$(addprefix $(CURDIR)/,$(wildcard $(AXE))) $(GO) test -vet=off ./reports/site

# Without npm's packages at hand, the pages are tested without axe-core.
$(AXE):
	-npm install --silent --no-audit --no-fund --prefix bin/axe axe-core@4.14.1

## test-external: schedulers in Python and Go that run beside the program
test-external:
	MIGLAB_REQUIRE_EXTERNAL=1 $(GO) test -vet=off ./harness/external

## test-gpu: measuring and executing, on a stub of NVML and with CUDA kernels on the processor; needs C and C++ compilers,
## and clang 14 for the kernels' PTX
test-gpu: test-portable
	MIGLAB_REQUIRE_CC=1 MIGLAB_REQUIRE_CLANG=1 CGO_ENABLED=1 $(GO) test -vet=off -timeout 30m ./profiling/...
	MIGLAB_REQUIRE_CC=1 CGO_ENABLED=1 $(GO) test -vet=off -parallel 6 -run GPU ./harness/cmd/miglab

## test-portable: everything compiles without cgo, and so do the tests of what uses the drivers of GPUs
test-portable:
	CGO_ENABLED=0 $(GO) build ./...
	MIGLAB_REQUIRE_CC= CGO_ENABLED=0 $(GO) test -vet=off $(addprefix ./profiling/,cuda nvml kernels devicetest measure execute command)

## test-slurm: slurm.sh on a real Slurm, started on loopback and stopped again
test-slurm: $(if $(shell PATH="$$PATH:/usr/sbin" command -v slurmctld),,install-slurm)
	MIGLAB_REQUIRE_SLURM=1 $(GO) test -vet=off -run Slurm ./harness/cmd/miglab

## test-processors: answers and data sets on arm64, under qemu, have the bytes that are kept as golden files
test-processors: $(if $(shell command -v qemu-aarch64),,install-qemu)
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -vet=off -tags=nosqlite -exec qemu-aarch64 -run 'ChangeWithTheVersionOnly|TestGoldenFamilies' ./algorithms ./algorithms/placement ./datasets

## test-platforms: the program builds for every platform that README.md names
PLATFORMS = linux/amd64 linux/arm64 linux/loong64 linux/ppc64le linux/riscv64 linux/s390x darwin/amd64 darwin/arm64 \
	freebsd/amd64 freebsd/arm64 openbsd/amd64 openbsd/arm64 netbsd/amd64 windows/amd64 windows/arm64
test-platforms:
	@for platform in $(PLATFORMS); do \
		echo "building for $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -buildvcs=false -o bin/platform ./harness/cmd/miglab || exit 1; \
	done; rm bin/platform

## test-fuzz: each fuzzer for some seconds. No part of test-all, whose outcome must not hang on chance. One that fails runs
## again, because Go sometimes reports the end of the time as a failure; an input that fails is kept, and fails again
FUZZTIME ?= 5s
test-fuzz:
	@$(GO) list -f '{{range .TestGoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}} {{end}}' ./... | xargs grep -Ho '^func Fuzz[A-Za-z]*' | \
		while IFS=: read -r file name; do \
			fuzz="$(GO) test -vet=off -run ^$$ -fuzz ^$${name#func }$$ -fuzztime $(FUZZTIME) -parallel 1"; \
			(cd "$${file%/*}" && { $$fuzz || $$fuzz; }) || exit 1; done

## install-slurm: Slurm from Debian's packages, which test-slurm needs
install-slurm:
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge

## install-cbc: the solver CBC from Debian's packages, whose optima test-all compares with ours
install-cbc:
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq --no-install-recommends coinor-cbc

## install-qemu: qemu from Debian's packages, which runs programs for arm64
install-qemu:
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq --no-install-recommends qemu-user

## test-fast: networks and what updates them with the kernels of GOEXPERIMENT=simd. The tests of trainings and agents take
## the portable kernels in every build
test-fast:
	GOEXPERIMENT=simd $(GO) test -vet=off ./algorithms/rl/nn ./algorithms/rl/ppo ./algorithms/rl/dqn

## test-gym: the Python package; needs numpy and pip
test-gym: export MIGLAB = $(CURDIR)/$(BIN)
test-gym: build
	cd algorithms/rl/python && $(PYTHON) -B -m unittest test_miglab test_miglab_gym
	dir=$$(mktemp -d) && $(PYTHON) -m pip install -q --root-user-action=ignore --no-build-isolation --no-deps --no-index --target $$dir ./algorithms/rl/python && \
		cd / && PYTHONPATH=$$dir $(PYTHON) -B -c 'import miglab, miglab_gym; miglab_gym.VectorEnv("deadline", 1).reset(seed=1)' && rm -r $$dir

## test-long: what takes too long for .ci/run: all tests on large numbers; the suites of packages to which the pages' examples
## are added; 100,000 mutated certificates are judged twice; 10,000 schedules draw no less than the bound on energy; a client in PyTorch learns, and its
## answers are ranked; Kubernetes' allocator decides as dra-first-fit does; all commands of the page about clusters print what it shows; all artefacts
## of the papers have the same bytes with one worker and with four; results have the same bytes on amd64, with and without
## fused instructions, and on arm64; the program builds for every platform; what dist packs builds without a network; an agent
## of each kind, trained again, has the curve and the weights that the project keeps; LaTeX tables compile, if pdflatex is there
test-long: build test-platforms $(if $(shell command -v qemu-aarch64),,install-qemu) $(if $(shell $(PYTHON) -c 'import torch' 2>&1),install-torch)
	cd algorithms/rl/python && $(PYTHON) -B -m unittest test_examples
	MIGLAB_DEEP=1 MIGLAB_REQUIRE_CC=1 $(GO) test -vet=off -timeout 2h -parallel 6 ./...
	MIGLAB_LONG=1 $(GO) test -timeout 1h -run 'AgreesWithAnIndependentOne|NoScheduleDraws' ./bounds/...
	$(GO) test -run TestLatexCompiles ./paper-figures/render
	MIGLAB_LONG=1 GOEXPERIMENT=simd $(GO) test -timeout 1h -run TestTrainedAgain ./algorithms/rl/train
	MIGLAB_LONG=1 $(GO) test -timeout 3h -run 'TestDRA|TestDist|TestSuitesTakeAdditions|TestArtifactRows|TestExamples/clusters|TestReproduceGivesTheSameBytes|TestSameBytes' ./harness/cmd/miglab

## install-torch: PyTorch from Debian's packages, which test-long needs
install-torch:
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq --no-install-recommends python3-torch libopenblas0-pthread

## lint: formatting and static analysis
lint:
	@for tool in gofumpt staticcheck; do \
		command -v $$tool >/dev/null || { echo "$$tool is not in PATH; install it with: make install-lint" >&2; exit 1; }; \
	done
	@unformatted="$$(gofumpt -l .)" || exit 1; if [ -n "$$unformatted" ]; then echo "not gofumpt-clean:"; echo "$$unformatted"; exit 1; fi
	staticcheck ./...

## install-lint: the tools of lint, into the folder bin of go env GOPATH, unless this version of Go built them before
install-lint:
	@for tool in honnef.co/go/tools/cmd/staticcheck@v0.8.2 mvdan.cc/gofumpt@v0.12.0; do \
		name=$${tool%@*}; \
		$(GO) version -m "$$($(GO) env GOPATH)/bin/$${name##*/}" 2>/dev/null | tr -s '[:space:]' ' ' | \
			grep -q "$$($(GO) env GOVERSION) path $$name mod [^ ]* $${tool#*@} " || $(GO) install $$tool || exit 1; \
	done

## bench: benchmarks, in benchstat's format
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

## bench-fast: the kernels of GOEXPERIMENT=simd. ExpAfterKernel is near 1 unless a kernel slows down what runs after it
bench-fast:
	GOEXPERIMENT=simd $(GO) test -run '^$$' -bench 'ExpAfterKernel|Iterate' -benchtime 300ms -cpu 1 ./algorithms/rl/nn ./algorithms/rl/ppo

## readme: the summary of claims and the images that README.md shows
readme: reproduce
	@$(BIN) readme

## clean: delete bin and results, unfinished trainings (results/train) included
clean:
	rm -rf bin results
