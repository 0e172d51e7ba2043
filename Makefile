# decodegap. `make help` lists the targets; why each flag is there is in
# docs/architecture.md, "How it is built".

GO       ?= go
FUZZTIME ?= 60s

# -mod=mod would hide that go.mod or go.sum lacks a line.
export GOFLAGS := $(filter-out -mod=%,$(GOFLAGS))

comma := ,

TAGS := -tags minimal
GOOS := $(shell $(GO) env GOOS)
EXE  := $(shell $(GO) env GOEXE)
CODE := $(wildcard cmd roofline probes traces reports bench)

# Without a C compiler everything but the GPU inventory and the probes is built.
ifndef CGO_ENABLED
CGO_ENABLED := $(if $(shell command -v $(firstword $(shell $(GO) env CC)) 2>/dev/null),1,0)
NOTE := $(if $(filter 0,$(CGO_ENABLED)),echo "note     no C compiler: built without what needs one (GPU inventory, probes of this machine)";)
endif
export CGO_ENABLED
export CGO_CFLAGS := -g -O2 -Wno-deprecated-declarations

# Late binding: a driver library's missing symbol must not end the program.
LDFLAGS := -s -w $(if $(filter linux1,$(GOOS)$(CGO_ENABLED)),-extldflags=-Wl$(comma)-z$(comma)lazy)

# The builds that must need no C compiler.
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64

# quietly runs a command and shows what it said only if it fails.
quietly = log=$$(mktemp) && if $(1) >"$$log" 2>&1; then rm -f "$$log"; else cat "$$log" >&2; rm -f "$$log"; exit 1; fi

.DEFAULT_GOAL := build
.PHONY: ptx ptx-verify gpu-test demo build test tools vet fmt unit portable modules bench fuzz-short golden docs licenses cross sanitize clean help

build: ## build ./decodegap
	@echo "build    ./decodegap$(EXE) (the first time takes a minute or two)"
	@$(call quietly,$(GO) build $(TAGS) -trimpath -buildvcs=false -ldflags "$(LDFLAGS)" -o decodegap$(EXE) ./cmd/decodegap)
	@$(NOTE) if command -v readelf >/dev/null && readelf -d decodegap$(EXE) 2>/dev/null | grep -Eq 'BIND_NOW|Flags:.*\bNOW'; then \
		rm -f decodegap$(EXE); \
		echo "build: the program would be bound at start (BIND_NOW) and end where a driver lacks a symbol; which tool passes -z now?" >&2; \
		exit 1; \
	fi

# The founding case: two benchmark series of GLM-5-NVFP4 on eight PCIe cards, the
# launch command of the second, the team's own floor, and what is known of the
# machine between the two. Then a captured trace, which names what the first case
# must leave unattributed. Last, what this machine's CPUs reach.
FOUNDING := testdata/bench/founding
demo: build ## build, then diagnose the founding case, a captured trace and this machine; reports go to out/
	@mkdir -p out
	@./decodegap$(EXE) diagnose glm-5-nvfp4 --hardware "RTX PRO 6000 Blackwell Workstation" --tp 8 --engine sglang \
		--bench $(FOUNDING)/flashinfer_cutlass.jsonl,$(FOUNDING)/flashinfer_cutedsl.jsonl \
		--launch testdata/launch/founding.sh --assume nvfp4@1800 \
		--fact "flashinfer_cutlass:host.kernel=before the upgrade to 6.14.11" --fact flashinfer_cutedsl:host.kernel=6.14.11 \
		--quiet --report out/gap.html,out/gap.pdf,out/gap.md -o out/run.json
	@echo
	@./decodegap$(EXE) diagnose llama-3.1-8b --hardware "H200 SXM" --context 540 --engine ideal \
		--measured 7.18ms --trace testdata/traces/captured/llama8b_graph_b1.json.gz \
		--quiet --report out/traced.html,out/traced.pdf -o out/traced.json
	@echo
	@./decodegap$(EXE) diagnose qwen3-0.6b --weights nvfp4 --context 512 --hardware cpu --probe --budget 20s \
		--quiet --report out/here.html,out/here.pdf -o out/here.json || \
		echo "this machine cannot be probed; the reason is above"
	@echo
	@echo "reports  out/gap.html out/gap.pdf out/gap.md; from a trace: out/traced.html out/traced.pdf; of this machine: out/here.html out/here.pdf"
	@echo "records  out/run.json out/traced.json out/here.json    (render again: ./decodegap report; gate on one: ./decodegap gate)"

test: tools fmt vet unit portable modules ptx-verify ## every check; on Debian as root installs the tools that tests need

# The programs that tests call, each with its Debian package. NO_TOOLS=1 goes
# on without them: the tests that need them are skipped.
NEEDED := chromium:chromium pdftotext:poppler-utils pdftoppm:poppler-utils
tools:
	@[ -z "$(NO_TOOLS)" ] || exit 0; \
	absent() { for pair in $(NEEDED); do \
		command -v "$${pair%%:*}" >/dev/null || echo "$${pair##*:}"; done | sort -u | tr '\n' ' '; }; \
	packages=$$(absent); [ -n "$$packages" ] || exit 0; \
	if ! command -v apt-get >/dev/null; then \
		echo "tests need chromium, pdftotext and pdftoppm on PATH; Debian has them in: $$packages(make test NO_TOOLS=1 goes on without)" >&2; exit 1; \
	elif [ "$$(id -u)" != 0 ]; then \
		echo "tests need what is not installed; run: sudo apt-get install -y --no-install-recommends $$packages(make test NO_TOOLS=1 goes on without)" >&2; exit 1; \
	fi; \
	echo "install  $$packages"; \
	$(call quietly,apt-get update -qq); \
	$(call quietly,env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$packages); \
	packages=$$(absent); [ -z "$$packages" ] || { echo "still missing after apt-get install: $$packages" >&2; exit 1; }

fmt: # no file that gofmt would change
	@echo "gofmt"
	@changed=$$(gofmt -l $(CODE)) && [ -z "$$changed" ] || { echo "not gofmt'ed: $$changed" >&2; exit 1; }

vet: ## go vet
	@echo "vet"
	@$(GO) vet $(TAGS) ./...

unit:
	@echo "test"
	@$(GO) test $(TAGS) ./...

portable: # the analysis half builds everywhere, without C
	@for p in $(PLATFORMS); do \
		echo "vet      $$p without C"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet $(TAGS) ./... || exit 1; \
	done

modules: # go.mod and go.sum say all, the cache holds what they say, licences are listed
	@echo "modules  complete, unchanged, licensed"
	@$(call quietly,env GOFLAGS=-mod=readonly GOPROXY=off $(GO) list $(TAGS) -deps -test ./...)
	@$(call quietly,$(GO) mod verify)
	@$(GO) run ./cmd/internal/licenses -check

bench: build ## print start-up and report times
	@$(GO) run ./bench -program ./decodegap$(EXE)

# The scalar path once more without vectors, which valgrind does not know in full.
SANITIZED := ./probes/cpu
sanitize: export CGO_CFLAGS := -g -O1 -Wno-deprecated-declarations -fsanitize=undefined -fno-sanitize-recover=undefined
sanitize: export CGO_LDFLAGS := -fsanitize=undefined
sanitize: ## the probes' kernels under AddressSanitizer and UBSan, the scalar ones under valgrind if there is one
	@echo "sanitize $(SANITIZED) (builds for minutes)"
	@$(call quietly,env ASAN_OPTIONS=detect_leaks=0 $(GO) test $(TAGS) -asan -short -timeout 20m $(SANITIZED))
	@if command -v valgrind >/dev/null; then \
		echo "valgrind scalar kernels"; \
		dir=$$(mktemp -d); \
		cc -g -O1 -o $$dir/harness probes/cpu/testdata/harness.c $(wildcard probes/cpu/*.c) -Iprobes/cpu -lm -lpthread && \
		valgrind -q --error-exitcode=9 $$dir/harness; rc=$$?; rm -rf $$dir; exit $$rc; \
	fi

fuzz-short: ## run every fuzz target for FUZZTIME (60s)
	@folders=$$(grep -rl --include='*_test.go' '^func Fuzz' $(CODE) | xargs -n1 dirname | sort -u | sed 's|^|./|'); \
	[ -n "$$folders" ] || { echo "no fuzz target found" >&2; exit 1; }; \
	listed=$$($(GO) test $(TAGS) -list '^Fuzz' $$folders) || { echo "$$listed" >&2; exit 1; }; \
	echo "$$listed" | awk '$$1 == "ok" { for (i = 0; i < n; i++) print $$2, name[i]; n = 0; next } { name[n++] = $$1 }' | \
	while read -r package target; do \
		echo "fuzz     $$package $$target $(FUZZTIME)"; \
		$(call quietly,$(GO) test $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10s $$package) || exit 1; \
	done

golden: ## rewrite the golden files from what the code prints now
	@for folder in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' $(CODE) | xargs -n1 dirname | sort -u); do \
		echo "golden   $$folder"; \
		$(call quietly,$(GO) test $(TAGS) ./$$folder -update) || exit 1; \
	done

docs: ## rewrite docs/reference from the commands
	@echo "docs     docs/reference"
	@$(call quietly,$(GO) test $(TAGS) ./cmd/decodegap -run '^TestReferenceDocs$$' -update)

licenses: ## rewrite THIRD_PARTY from the linked modules
	@echo "licenses THIRD_PARTY"
	@$(GO) run ./cmd/internal/licenses

# The kernels' PTX is in the repository: only who changes a kernel needs clang.
CLANG ?= clang-16
ptx: ## compile the GPU kernels again (needs clang-16)
	@$(GO) run $(TAGS) ./cmd/internal/ptx -clang $(CLANG)

ptx-verify: # that another compilation changes no byte
	@if command -v $(CLANG) >/dev/null; then echo "ptx      as its sources give it"; $(GO) run $(TAGS) ./cmd/internal/ptx -clang $(CLANG) -check; \
	else echo "ptx      not compiled again: no $(CLANG) here"; fi

gpu-test: ## build build/gpu.test; where there is a GPU run: build/gpu.test -test.v -test.run Device
	@mkdir -p build
	@echo "build    build/gpu.test; on the machine with the GPU, no Go needed: ./gpu.test -test.v -test.run Device"
	@$(GO) test -c -tags 'minimal device' -trimpath -ldflags "$(LDFLAGS)" -o build/gpu.test ./probes/cuda

cross: ## build/ for each platform, without C
	@for p in $(PLATFORMS); do \
		os=$${p%/*} arch=$${p#*/}; out=build/decodegap-$$os-$$arch; [ $$os != windows ] || out=$$out.exe; \
		echo "build    $$out"; \
		$(call quietly,env CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build $(TAGS) -trimpath -buildvcs=false -ldflags "-s -w" -o $$out ./cmd/decodegap); \
	done

clean: ## remove what the other targets made
	rm -rf decodegap decodegap.exe build out

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
