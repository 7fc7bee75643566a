# Everything runs in .venv of this clone; `make test` and `make demo` set it up when it is not there.
PYTHON ?= $(shell command -v python3.11 || echo python3)
BIN := .venv/bin

