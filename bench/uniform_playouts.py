"""Uniform games a CPU second: by the names of the actions, and by the game itself; and exact values.

python bench/uniform_playouts.py [--games 2000]
"""

from __future__ import annotations

import argparse
import time

from preplay.games.openspiel import OpenSpielState, openspiel
from preplay.policy import Uniform
from preplay.sampling.samplers import PlayoutRequest, Playouts, Sampler, UniformPlayouts, at
from preplay.value import Exact

GAMES = ("connect_four(rows=4,columns=4,x_in_row=3)", "tic_tac_toe", "breakthrough(rows=4,columns=4)")


def rate(sampler: Sampler[OpenSpielState], request: PlayoutRequest[OpenSpielState]) -> float:
    began = time.process_time()
    sampler.play([request])
    return request.count / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    given = parser.parse_args()
    for text in GAMES:
        game = openspiel(text)
        base = (Uniform(game), Uniform(game))
        request = PlayoutRequest(at(game, game.root()), 0, given.games)
        named, itself = rate(Playouts(game, base), request), rate(UniformPlayouts(game), request)
        print(
            f"{text:<45} by names {named:8,.0f}   by the game {itself:8,.0f}   {itself / named:.1f} times"
        )
    game = openspiel("tic_tac_toe")
    exact = Exact(game, (Uniform(game), Uniform(game)), key=game.position)
    began = time.process_time()
    exact.values([game.root()])
    seconds = time.process_time() - began
    print(f"exact values of tic_tac_toe: {len(exact.known):,} positions in {seconds:.2f} s")


if __name__ == "__main__":
    main()
