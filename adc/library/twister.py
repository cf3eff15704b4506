"""The draws of `np.random.RandomState` with the bit generator MT19937, bit for bit.

The state is an array of 627 words: 624 of the generator, how many of these are used up, whether
the second normal number of a pair is left over, and its bits. Draws change the array in place.

`Twister` is a source of words as `adc.library.random.Pcg64` is: what draws from one draws from the
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.random import (
    Word,
    bits_of_float,
    float_of_bits,
    interval,
    libm_log,
    mt19937_word,
    random64,
    shuffle,
)

# -- the source of words ---------------------------------------------------------------------------


class Twister:
    """The bit generator MT19937, with the standard draws of `np.random.RandomState`.

    Parameters
    ----------
    words : array
        The state, which draws change.
    """

    legacy = True

    def __init__(self, words: Any) -> None:
        self.words = words

    def word32(self) -> Word:
        """Draw a word of 32 bits."""
        words = self.words
        used = words[624]
        if used >= np.uint64(624):
            _twist(words)
            used = np.uint64(0)
        words[624] = used + np.uint64(1)
        return mt19937_word(words[np.int64(used)])

    def word64(self) -> Word:
        """Draw a word of 64 bits."""
        high = self.word32()
        return (high << np.uint64(32)) | self.word32()

    def word53(self) -> Word:
        """Draw a word of 53 bits."""
        high = self.word32() >> np.uint64(5)
        return (high << np.uint64(26)) | (self.word32() >> np.uint64(6))

    def normal(self) -> Any:
        """Draw from the standard normal distribution, by the polar method: two numbers at once."""
        words = self.words
        if words[625] != np.uint64(0):
            x = float_of_bits(words[626])
            words[625] = np.uint64(0)
            words[626] = np.uint64(0)
            return x
        while True:
            x = 2.0 * random64(self) - 1.0
            y = 2.0 * random64(self) - 1.0
            square = x * x + y * y
            if square < 1.0 and square != 0.0:
                break
        f = np.sqrt(-2.0 * libm_log(square) / square)
        words[625] = np.uint64(1)
        words[626] = bits_of_float(f * x)
        return f * y

    def exponential(self) -> Any:
        """Draw from the standard exponential distribution."""
        return -libm_log(1.0 - random64(self))


def _twist(words: Any) -> None:
    """Replace the 624 words by the next ones."""
    for k in range(624):
        after = words[(k + 1) % 624]
        far = words[(k + 397) % 624]
        both = (words[k] & np.uint64(0x80000000)) | (after & np.uint64(0x7FFFFFFF))
        odd = np.uint64(0x9908B0DF) * (both & np.uint64(1))
        words[k] = far ^ (both >> np.uint64(1)) ^ odd


def seed(words: Any, seed: Word) -> None:
    """Give the state the words that follow from a seed of 32 bits."""
    if seed > np.uint64(0xFFFFFFFF):
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    word = seed
    for k in range(624):
        words[k] = word
        word = np.uint64(1812433253) * (word ^ (word >> np.uint64(30))) + np.uint64(k + 1)
        word = word & np.uint64(0xFFFFFFFF)
    words[624] = np.uint64(624)
    words[625] = np.uint64(0)
    words[626] = np.uint64(0)


def seeded(given: Word) -> Any:
    """Return the state of ``np.random.RandomState(seed)``."""
    words = np.zeros(627, np.uint64)
    seed(words, given)
    return words


# -- integers --------------------------------------------------------------------------------------


def masked(bits: Any, most: Word) -> Word:
    """Draw an integer from 0 to `most` with equal probability."""
    if most == np.uint64(0):
        return most
    return interval(bits, most)


def permuted(bits: Any, index: Any, count: int) -> Word:
    """Fill `index` with the first integers of a permutation of those below `count`."""
    every = np.arange(count)
    shuffle(bits, every, 1, True)
    index[:] = every[: len(index)]
    return np.uint64(0)
