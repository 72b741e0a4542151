"""Prints shares of questions with 95 % confidence intervals, for one program or for two side by side."""

import math


def wilson(count, total):
    """Returns the 95 % Wilson score interval of a share, in percent."""
    if not total:
        return 0.0, 0.0
    share, z = count / total, 1.96
    middle = share + z * z / (2 * total)
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return 100 * (middle - width) / scale, 100 * (middle + width) / scale


def share(ranks, within):
    """Formats the share of ranks up to `within`, with its interval. Ranks count from 1; None means that nothing was found."""
    count = sum(rank is not None and rank <= within for rank in ranks)
    low, high = wilson(count, len(ranks))
    return f"{100 * count / max(len(ranks), 1):5.1f} % [{low:5.1f}, {high:5.1f}]", count


def print_row(what, ranks, within):
    """Prints the shares of every program up to each rank, and the ratio of the first program to the second.

    `ranks` contains one list per program.
    """
    cells = []
    for limit in within:
        shares = [share(program, limit) for program in ranks]
        cells += [text for text, _ in shares]
        if len(shares) > 1:
            cells.append(f"x {shares[0][1] / shares[1][1]:.3f}" if shares[1][1] else "x     -")
    print(f"{what:<44} {len(ranks[0]):>6}   " + "   ".join(cells), flush=True)


def print_head(programs, within):
    names = {1: "first", 3: "among three", 10: "among ten"}
    cells = []
    for limit in within:
        cells += [f"{names[limit]} {'AB'[number] if len(programs) > 1 else ''}".strip().ljust(22) for number in range(len(programs))]
        cells += ["A/B    "] if len(programs) > 1 else []
    for letter, program in zip("AB", programs):
        print(f"{letter} = {program}")
    print(f"{'':<44} {'number':>6}   " + "   ".join(cells))
