"""What is asked of an engine, what of the history it is told, and which of its lines are believed."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.engines.analysis import (
    CEILING,
    MATE,
    Analysis,
    EngineSpec,
    Limit,
    Line,
    SearchPosition,
    is_mate,
    mate_in,
    mate_score,
    placement,
    search_position,
)
from preplay.chess.engines.infolines import read_analysis
from preplay.chess.rules import ChessGame
from preplay.errors import EngineError, InputError
from preplay.game import walk


def played(*moves: str, fen: str = chess.STARTING_FEN) -> chess.Board:
    board = chess.Board(fen)
    for move in moves:
        board.push_uci(move)
    return board


# Records


@pytest.mark.parametrize(
    "wrong", [{}, {"nodes": 1, "depth": 1}, {"nodes": 0}, {"depth": 2.5}, {"nodes": True}]
)
def test_a_limit_is_exactly_one_positive_number(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"limit: .* expected"):
        Limit(**wrong)


def test_limits_as_commands() -> None:
    assert Limit(nodes=5).go == "go nodes 5"
    assert Limit(depth=5).go == "go depth 5"
    assert Limit(milliseconds=5).go == "go movetime 5"
    assert {Limit(nodes=5), Limit(depth=5), Limit(milliseconds=5), Limit(nodes=5)} == {
        Limit(nodes=5),
        Limit(depth=5),
        Limit(milliseconds=5),
    }


def test_equal_engines_whatever_the_order_and_type_of_options() -> None:
    one = EngineSpec.of("x", {"Skill Level": 3, "UCI_LimitStrength": True})
    two = EngineSpec.of(["x"], {"UCI_LimitStrength": "true", "Skill Level": "3"})
    assert one == two
    assert dict(one.options)["Threads"] == "1"
    assert dict(EngineSpec.of("x", {"hash": 64}).options) == {"hash": "64", "Threads": "1"}
    with pytest.raises(InputError, match="MultiPV"):
        EngineSpec.of("x", {"MultiPV": 3})
    with pytest.raises(InputError, match="single line"):
        EngineSpec.of("x", {"Skill Level": "3\nquit"})


@given(st.integers(-499, 499))
def test_mates_are_finite_and_ordered(moves: int) -> None:
    score = mate_score(moves)
    assert CEILING < abs(score) <= MATE
    assert is_mate(score)
    assert mate_in(score) == moves
    if moves > 1:
        assert CEILING < score < mate_score(moves - 1)
    if moves < 0:
        assert mate_score(moves + 1) < score < -CEILING
    assert not is_mate(CEILING)
    assert mate_in(-CEILING) is None
    assert is_mate(mate_score(100_000))


# What of the history is sent


USUAL = ChessGame()


def reached(*moves: str, game: ChessGame = USUAL) -> SearchPosition:
    return search_position(walk(game, moves).board)


def test_transpositions_share_a_position() -> None:
    one = reached("e2e4", "e7e6", "d2d4")
    two = reached("d2d4", "e7e6", "e2e4")
    assert one == two
    assert one.text == "rnbqkbnr/pppp1ppp/4p3/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2"
    assert one.command == f"position fen {one.text}"
    assert reached("e2e4", "e7e6", "d2d4", "g8f6").command == f"position fen {one.text} moves g8f6"


def test_the_clock_is_that_of_the_game() -> None:
    """Never 0 because it is low: engines scale their scores by it."""
    clocks = [reached("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "g8f6")]
    clocks += [reached("f1b5", game=ChessGame("4k3/8/8/8/8/8/7P/4KB2 w - - 7 60"))]
    assert [position.board().halfmove_clock for position in clocks] == [4, 8]
    assert clocks[1].start == "4k3/8/8/8/8/8/7P/4KB2 w - - 7 60"


def test_moves_of_another_order_are_another_game_until_a_pawn_moves() -> None:
    one = "e2e4", "e7e5", "g1f3", "b8c6", "f1b5"
    two = "e2e4", "e7e5", "f1b5", "b8c6", "g1f3"
    assert reached(*one) != reached(*two)
    assert reached(*one, "a7a6") == reached(*two, "a7a6")


def test_moves_before_the_start_are_told_too() -> None:
    before = ChessGame(before=("e4", "e5", "Nf3", "Nc6"))
    assert reached("f1b5", game=before) == reached("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")


def test_a_whole_game_is_told_to_engines_that_look_at_it() -> None:
    moves = "e2e4", "e7e6", "d2d4", "g8f6"
    told = reached(*moves, game=ChessGame(whole=True))
    assert (told.start, told.moves) == (chess.STARTING_FEN, moves)
    assert reached(*moves[1:], game=ChessGame(before=("e4",), whole=True)) == told


def test_an_en_passant_square_is_told_where_a_pawn_stands_ready() -> None:
    assert " - 0 " in reached("e2e4").text
    assert " d6 0 " in reached("e2e4", "a7a6", "e4e5", "d7d5").text
    pinned = ChessGame("4k3/4r3/8/8/3pP3/8/8/4K3 b - e3 0 1")
    assert " e3 0 " in search_position(pinned.root().board).text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_sent_keeps_the_rules(data: st.DataObject) -> None:
    """The same position, and the next move ends the game by repetition iff it does in the real game."""
    fen = data.draw(st.sampled_from([chess.STARTING_FEN, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9"]))
    game, undo = ChessGame(fen), st.booleans()
    state, board = game.root(), chess.Board(fen)
    for _ in range(data.draw(st.integers(0, 30))):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        back = [m for m in moves if len(board.move_stack) > 1 and _undoes(m, board.move_stack[-2])]
        if not moves or board.is_fivefold_repetition():
            break
        again: bool = data.draw(undo)
        move = data.draw(st.sampled_from(back if back and again else moves))
        state = game.next(state, move.uci())
        board.push(move)
    position = search_position(state.board)
    sent = position.board()
    assert SearchPosition.of_text(position.text) == position
    assert sent.epd(en_passant="legal") == board.epd(en_passant="legal")
    assert set(sent.legal_moves) == set(board.legal_moves)
    assert (sent.halfmove_clock, sent.fullmove_number) == (board.halfmove_clock, board.fullmove_number)
    for move in list(board.legal_moves):
        board.push(move)
        sent.push(move)
        assert sent.is_repetition(3) == board.is_repetition(3)
        board.pop()
        sent.pop()


def _undoes(move: chess.Move, earlier: chess.Move) -> bool:
    return move.from_square == earlier.to_square and move.to_square == earlier.from_square


# Which info lines to believe


def info(depth: int, rank: int, score: str, move: str, nodes: int = 7) -> str:
    return (
        f"info depth {depth} seldepth 9 multipv {rank} score {score} nodes {nodes} time 1 pv {move} a7a6"
    )


def test_the_last_complete_iteration() -> None:
    rows = [
        "info string NNUE evaluation using x enabled",
        info(1, 1, "cp 1", "e2e4"),
        info(1, 2, "cp 0", "d2d4"),
        info(2, 1, "cp 20 wdl 30 960 10", "e2e4"),
        info(2, 2, "cp 10", "d2d4"),
        info(3, 1, "cp 50 lowerbound", "d2d4"),
        "info depth 3 currmove e2e4 currmovenumber 1",
        info(3, 1, "cp 30", "d2d4"),
        info(2, 2, "cp 20", "e2e4", nodes=99),
        "bestmove d2d4 ponder a7a6",
    ]
    found = read_analysis("\n".join(rows) + "\n", 2, 0.25)
    assert found == Analysis(
        (Line("e2e4", 20, 2, (30, 960, 10), "e2e4 a7a6"), Line("d2d4", 10, 2, None, "d2d4 a7a6")),
        best="d2d4",
        nodes=99,
    )
    assert found.milliseconds == 250
    assert found.depth == 2
    assert found.complete


def test_how_long_a_search_takes_does_not_matter() -> None:
    """After three seconds Stockfish prints after each rank too, and these prints may look whole."""
    done = [info(10, 1, "cp 20", "e2e4"), info(10, 2, "cp 10", "d2d4")]
    early = [info(11, 1, "cp 30", "d2d4"), info(11, 2, "cp 25", "e2e4")]  # rank 2 was not searched yet
    cut = [info(11, 1, "cp 30", "d2d4"), info(11, 2, "cp 5 upperbound", "g1f3"), "bestmove d2d4"]
    fast, slow = (
        read_analysis("\n".join(done + cut), 2, 0),
        read_analysis("\n".join(done + early + cut), 2, 0),
    )
    assert fast == slow
    assert [line.move for line in fast.lines] == ["e2e4", "d2d4"]
    whole = [info(11, 1, "cp 30", "d2d4"), info(11, 2, "cp 27", "g1f3"), "bestmove d2d4"]
    assert read_analysis("\n".join(done + early + whole), 2, 0).lines[1].move == "g1f3"


def test_bounds_count_only_without_anything_better() -> None:
    rows = [info(1, 1, "cp 9 upperbound", "e2e4"), info(1, 2, "cp 5", "d2d4"), "bestmove e2e4"]
    found = read_analysis("\n".join(rows), 2, 0)
    assert not found.complete
    assert [line.move for line in found.lines] == ["e2e4", "d2d4"]
    rows.insert(0, info(1, 1, "mate -2", "a2a3"))
    found = read_analysis("\n".join(rows), 2, 0)
    assert [(line.move, line.score) for line in found.lines] == [("d2d4", 5), ("a2a3", mate_score(-2))]


@pytest.mark.parametrize(
    "output",
    ["bestmove (none)", "bestmove", "bestmove 0000", "bestmove banana", "bestmove e2e4", "readyok"],
)
def test_answers_that_are_none(output: str) -> None:
    with pytest.raises(EngineError):
        read_analysis(output, 1, 0)


MOVES = ["e2e4", "d2d4", "c2c4", "g1f3", "b1c3"]


@given(st.data(), st.integers(1, 4), st.integers(1, 6))
def test_any_cut_search_gives_its_last_complete_iteration(
    data: st.DataObject, want: int, depths: int
) -> None:
    """Searches are played through as Stockfish prints them and cut off in an iteration of our choice."""
    rows, last, scores = list[str](), list[tuple[str, int]](), st.integers(-500, 500)
    for depth in range(1, depths + 1):
        for _ in range(data.draw(st.integers(0, 2))):  # windows that failed
            rows.append(
                info(depth, 1, f"cp {data.draw(scores)} lowerbound", data.draw(st.sampled_from(MOVES)))
            )
        moves = data.draw(st.permutations(MOVES))[:want]
        values = sorted((data.draw(scores) for _ in moves), reverse=True)
        rows += [
            info(depth, k, f"cp {v}", m) for k, (m, v) in enumerate(zip(moves, values, strict=True), 1)
        ]
        last = list(zip(moves, values, strict=True))
    done = data.draw(
        st.integers(0, want - 1)
    )  # ranks the cut iteration has finished; the next is a bound
    moves = data.draw(st.permutations(MOVES))[:want]
    for rank, move in enumerate(moves, 1):
        depth = depths + 1 if rank <= done + 1 else depths
        bound = " upperbound" if rank == done + 1 else ""
        rows.append(info(depth, rank, f"cp {data.draw(scores)}{bound}", move))
    found = read_analysis("\n".join([*rows, f"bestmove {moves[0]}"]), want, 0)
    assert [(line.move, line.score) for line in found.lines] == last
    assert found.complete
    assert found.best == moves[0]


def test_a_rook_that_left_e1_is_not_castling() -> None:
    """Moves are written as they were played, not as they would read in the position now."""
    board = chess.Board("5b2/p6k/8/2pb4/8/P4qP1/1P3P2/4RK2 b - - 0 1")
    for move in (
        "f3g2",
        "f1e2",
        "g2f3",
        "e2f1",
        "f3g2",
        "f1e2",
        "f8g7",
        "e1h1",
        "h7g6",
        "h1h4",
        "g2f3",
        "e2e1",
    ):
        board.push_uci(move)
    position = search_position(board)
    assert "e1h1" in position.moves
    assert position.board().board_fen() == board.board_fen()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=80), st.booleans())
def test_the_position_an_engine_is_told_is_the_one_on_the_board(
    choices: list[int], shuffle: bool
) -> None:
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1" if shuffle else chess.STARTING_FEN)
    for choice in choices:
        moves = [m for m in board.legal_moves if not shuffle or not board.is_capture(m)] or list(
            board.legal_moves
        )
        if not moves:
            break
        board.push(moves[choice % len(moves)])
        told = search_position(board).board()
        assert told.board_fen() == board.board_fen()
        assert told.turn == board.turn
        assert told.clean_castling_rights() == board.clean_castling_rights()


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60, deadline=None)
def test_positions_are_written_as_python_chess_writes_them(seed: int, chess960: bool) -> None:
    rng = random.Random(seed)
    board = chess.Board.from_chess960_pos(rng.randrange(960)) if chess960 else chess.Board()
    for _ in range(rng.randrange(60)):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
    board.clear_stack()
    fen = board.fen(shredder=chess960, en_passant="xfen")
    assert search_position(board).start == fen
    assert placement(board) == board.board_fen()
