# Everything runs in .venv of this clone; `make test` and `make demo` set it up when it is not there.
PYTHON ?= $(shell command -v python3.11 || echo python3)
BIN := .venv/bin
# One more than there are cores: some tests wait.
TESTERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)

.PHONY: faults fuzz setup system test test-slow check lint-page format demo bench clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt scripts/preplay
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,cluster,openspiel,parquet]'
	@touch $@

# Debian packages that chess and the page tests use; without root or apt this only says what is missing.
system:
	@scripts/system-packages stockfish polyglot chromium chromium-driver nodejs

test: setup system
	$(BIN)/pytest -n $(TESTERS) -m 'not slow'

test-slow: setup system
	$(BIN)/pytest -n $(TESTERS) -m slow

# Style, types and layers; the tests themselves are typed and checked too.
check: setup lint-page
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -q -n 0 tests/test_architecture.py

# The page's script. npm brings the linter and the newest axe-core; without npm both are done without.
lint-page:
	@scripts/node-packages
	@if [ -x node_modules/.bin/eslint ]; then node_modules/.bin/eslint; else echo "no eslint: install npm to lint the page's script"; fi

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# White against a Stockfish that chooses among its two best moves, judged and calibrated by 64 games; on two
# cores within three minutes.
demo: setup
	@scripts/system-packages stockfish
	$(BIN)/preplay prepare chess --side white --cost 1e-3 --set black.randomness=10 --seconds 150 \
		--save runs/demo --lines 12
	$(BIN)/preplay export runs/demo --polyglot runs/demo/book.bin --pgn runs/demo/book.pgn
	$(BIN)/preplay report runs/demo -o runs/demo/report.html

# Sixty engine faults, and a hundred kills of every long command at random moments.
faults: setup system
	PREPLAY_KILLS=100 $(BIN)/pytest -n 0 tests/faults

# 100,000 hostile inputs for all readers, what gets through is kept in fuzz/corpus; then every byte of what runs keep, damaged.
fuzz: setup
	$(BIN)/python -W ignore -m fuzz.campaign --inputs 100000
	$(BIN)/python -W ignore -m fuzz.damage

bench: setup
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/core.py
	$(BIN)/python bench/uniform_playouts.py
	$(BIN)/python bench/rollouts.py
	$(BIN)/python bench/equilibrium.py
	$(BIN)/python bench/engine_pool.py
	$(BIN)/python bench/chess_prepare.py

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
