# Everything runs in one virtual environment; nothing but Python 3.11+ and make is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STICH := $(BIN)/stich
READY := $(VENV)/ready

.PHONY: install train train-long train-viersche train-full test lint types unit notebooks bench pictures browser docs clean

install: $(READY)  ## the environment in .venv and nothing else

train: $(READY)  ## PPO learns Herzeln: about 5 minutes on 2 cores, ends with a table and a learning curve
	$(STICH) train herzeln_ppo --out runs/herzeln_quick $(call resume,runs/herzeln_quick)

train-long: $(READY)  ## the same for 30 minutes, ahead of the rule-based agent
	$(STICH) train herzeln_ppo_long --out runs/herzeln_long $(call resume,runs/herzeln_long)

train-viersche: $(READY)  ## PPO learns Viersche
	$(STICH) train viersche_ppo --out runs/viersche $(call resume,runs/viersche)

train-full: $(READY)  ## the shipped agent of Herzeln for four players, in five parts, within two and a half hours
	$(STICH) train herzeln_full --out runs/herzeln_full $(call resume,runs/herzeln_full)
	$(STICH) train herzeln_full_rewards --out runs/herzeln_full_rewards $(call resume,runs/herzeln_full_rewards)
	$(STICH) train herzeln_small --out runs/herzeln_small $(call resume,runs/herzeln_small)
	$(STICH) train herzeln_full_judged --out runs/herzeln_full_judged $(call resume,runs/herzeln_full_judged)
	$(STICH) train herzeln_full_rewards --out runs/herzeln_full_last $(call resume,runs/herzeln_full_last) \
		start=runs/herzeln_full_judged/agent.safetensors decisions=4_000_000

test: lint types unit notebooks  ## what CI runs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/basedpyright

unit: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

notebooks: $(READY)  ## executed at smoke size
	STICH_SMOKE=1 $(BIN)/python -m pytest --nbmake --nbmake-timeout=600 notebooks

bench: $(READY)  ## speed beside peers, in one run
	$(STICH) bench

browser: $(READY)  ## a Chromium for the tests of the page, unless the system has one
	command -v chromium || command -v chromium-browser || command -v google-chrome || $(BIN)/playwright install chromium

pictures: $(READY)  ## the pictures of the README
	$(STICH) replay docs/herzeln.jsonl --gif docs/herzeln.gif --table docs/herzeln.png --card 47
	$(STICH) replay docs/viersche.jsonl --part 5 --seat 2 --table docs/viersche.png --card 11
	$(BIN)/python -m stich.page.shoot docs/page.png

docs: $(READY)  ## the documentation site, into site/; links that lead nowhere fail
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): a few minutes, nearly 3 GB"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,tournament,render,serve,study,onnx,sb3,test,docs,plot,dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info

# A run that was interrupted goes on where it was.
resume = $(if $(wildcard $(1)/last.safetensors),--resume)
