# miglab: build, reproduce, test. Go and make are all that is needed.

GO ?= go
WORKERS ?= 0
BIN := bin/miglab

.PHONY: reproduce quick build test test-all bench lint readme clean

## reproduce: every table and figure of the papers into results/ (again: computes nothing)
reproduce: build
	@$(BIN) reproduce --workers $(WORKERS)

## quick: the same on few replicates, into results/quick/
quick: build
	@$(BIN) reproduce --quick --workers $(WORKERS)

## build: the program, without cgo
build:
	@CGO_ENABLED=0 $(GO) build -o $(BIN) ./harness/cmd/miglab

## test: everything that Go alone can test
test:
	$(GO) vet ./...
	$(GO) test ./...

## test-all: test, and what needs more than Go (so far: linters, the cgo-free build)
test-all: test lint
	CGO_ENABLED=0 $(GO) build ./...

## lint: formatting and static analysis; .ci/run installs the tools
lint:
	@unformatted="$$(gofumpt -l .)"; if [ -n "$$unformatted" ]; then echo "not gofumpt-clean:"; echo "$$unformatted"; exit 1; fi
	staticcheck ./...

## bench: benchmarks, in benchstat's format
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

## readme: the summary of claims and the images that README.md shows
readme: reproduce
	@$(BIN) readme

clean:
	rm -rf bin results
