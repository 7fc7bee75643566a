"""Worker processes and those who interrupt them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from preplay.experiments import workers
from preplay.stopping import Stop


@pytest.mark.parametrize("known", [True, False])
def test_a_ctrl_c_that_nobody_listens_for_ends_the_call(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = Stop()

    def pressed(*args: Any, **more: Any) -> None:
        stop.asked = known
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "wait", pressed)
    results = workers.computed(math.sqrt, [4.0], 1, stop)
    if known:
        assert list(results) == []
    else:
        with pytest.raises(KeyboardInterrupt):
            list(results)
