"""The draws of `np.random.Generator` with the bit generator PCG64, bit for bit.

A draw is a function of a source of words, an object such as `Pcg64` (`twister` has another). Its
methods give the next word, and the standard draws that depend on the class of the generator.

The state of a `Generator` is six words of 64 bits: the state of a linear congruential generator and
its increment, two words each; whether half of a random word is left over, and that half.

The algorithms and their roundings are those of NumPy's builds for x86-64. (Where compilers contract
``a + b * c`` to one rounding, as on ARM, NumPy's own numbers differ accordingly.) The names of the
first section are rows of the table of operations (`adc.ir.ops.random`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.standard.iteration import bisect_right

Word = Any


# -- rows ------------------------------------------------------------------------------------------


def pcg64_high(high: Word, low: Word, step_high: Word, step_low: Word) -> Word:
    """Return the high word of the next state."""
    raise NotImplementedError


def pcg64_word(high: Word, low: Word) -> Word:
    """Return the random word that a state gives."""
    raise NotImplementedError


def mt19937_word(word: Word) -> Word:
    """Return the random word that a word of the state gives."""
    raise NotImplementedError


def bits_of_float(x: Any) -> Word:
    """Return the bits of a float."""
    raise NotImplementedError


def float_of_bits(word: Word) -> Any:
    """Return the float that has these bits."""
    raise NotImplementedError


def libm_exp(x: Any) -> Any:
    """Return the C library's exponential function."""
    raise NotImplementedError


def libm_log1p(x: Any) -> Any:
    """Return the C library's ``log(1 + x)``."""
    raise NotImplementedError


def libm_expm1(x: Any) -> Any:
    """Return the C library's ``exp(x) - 1``."""
    raise NotImplementedError


def libm_log(x: Any) -> Any:
    """Return the C library's logarithm."""
    raise NotImplementedError


def libm_pow(x: Any, y: Any) -> Any:
    """Return the C library's power."""
    raise NotImplementedError


def by_rejection(x: Any) -> Any:
    """Return a parameter on which numbers depend that are drawn by rejection."""
    raise NotImplementedError


def normal_width64(k: Word) -> Any:
    """Return an entry of a table of the ziggurat method, and so do the following."""
    raise NotImplementedError


def normal_inside64(k: Word) -> Word:
    raise NotImplementedError


def normal_height64(k: Word) -> Any:
    raise NotImplementedError


def normal_width32(k: Word) -> Any:
    raise NotImplementedError


def normal_inside32(k: Word) -> Word:
    raise NotImplementedError


def normal_height32(k: Word) -> Any:
    raise NotImplementedError


def exponential_width64(k: Word) -> Any:
    raise NotImplementedError


def exponential_inside64(k: Word) -> Word:
    raise NotImplementedError


def exponential_height64(k: Word) -> Any:
    raise NotImplementedError


def exponential_width32(k: Word) -> Any:
    raise NotImplementedError


def exponential_inside32(k: Word) -> Word:
    raise NotImplementedError


def exponential_height32(k: Word) -> Any:
    raise NotImplementedError


# -- sources of words ------------------------------------------------------------------------------


class Pcg64:
    """The bit generator PCG64, with the standard draws of `np.random.Generator`.

    Parameters
    ----------
    high, low : word
        The state.
    step_high, step_low : word
        The increment.
    full, half : word
        Whether half of a word is left over, and that half.
    """

    legacy = False

    def __init__(
        self, high: Word, low: Word, step_high: Word, step_low: Word, full: Word, half: Word
    ) -> None:
        self.high, self.low = high, low
        self.step_high, self.step_low = step_high, step_low
        self.full, self.half = full, half

    def word64(self) -> Word:
        """Draw a word of 64 bits."""
        high = pcg64_high(self.high, self.low, self.step_high, self.step_low)
        self.low = self.low * np.uint64(0x4385DF649FCCF645) + self.step_low
        self.high = high
        return pcg64_word(high, self.low)

    def word32(self) -> Word:
        """Draw a word of 32 bits: the low half of a new word, or the high half that was left."""
        if self.full != np.uint64(0):
            self.full = np.uint64(0)
            return self.half
        word = self.word64()
        self.full, self.half = np.uint64(1), word >> np.uint64(32)
        return word & np.uint64(0xFFFFFFFF)

    def word53(self) -> Word:
        """Draw a word of 53 bits."""
        return self.word64() >> np.uint64(11)

    def normal(self) -> Any:
        """Draw from the standard normal distribution."""
        return normal64(self)

    def exponential(self) -> Any:
        """Draw from the standard exponential distribution."""
        return exponential64(self)


# -- floats ----------------------------------------------------------------------------------------


def random64(bits: Any) -> Any:
    """Draw from the uniform distribution on [0, 1)."""
    # As a signed integer it is converted by one instruction. The factor is 2 to the power of -53.
    return np.float64(np.int64(bits.word53())) * 1.1102230246251565e-16


def normal(bits: Any) -> Any:
    """Draw from the standard normal distribution, as the source of words does."""
    return bits.normal()


def exponential(bits: Any) -> Any:
    """Draw from the standard exponential distribution, as the source of words does."""
    return bits.exponential()


def random32(bits: Any) -> Any:
    """Draw from the uniform distribution on [0, 1), in single precision."""
    word = bits.word32()
    x = np.float32(np.int64(word >> np.uint64(8))) * 5.9604644775390625e-08  # 2 to the power of -24
    return x


def normal64(bits: Any) -> Any:
    """Draw from the standard normal distribution."""
    while True:
        word = bits.word64()
        layer = word & np.uint64(255)
        distance = (word >> np.uint64(9)) & np.uint64(0x000FFFFFFFFFFFFF)
        x = np.float64(np.int64(distance)) * normal_width64(layer)
        if word & np.uint64(256):
            x = -x
        if distance < normal_inside64(layer):
            return x
        if layer == np.uint64(0):
            edge = np.float64(3.6541528853610088)
            while True:
                u = random64(bits)
                beyond = np.float64(-0.27366123732975828) * libm_log1p(-u)
                u = random64(bits)
                y = -libm_log1p(-u)
                if y + y > beyond * beyond:
                    x = edge + beyond
                    if distance & np.uint64(256):
                        x = -x
                    return x
        u = random64(bits)
        top, bottom = normal_height64(layer - np.uint64(1)), normal_height64(layer)
        if (top - bottom) * u + bottom < libm_exp(-0.5 * x * x):
            return x


def normal32(bits: Any) -> Any:
    """Draw from the standard normal distribution, in single precision."""
    while True:
        word = bits.word32()
        layer = word & np.uint64(255)
        distance = (word >> np.uint64(9)) & np.uint64(0x007FFFFF)
        x = np.float32(np.int64(distance)) * normal_width32(layer)
        if word & np.uint64(256):
            x = -x
        if distance < np.uint64(normal_inside32(layer)):
            return x
        if layer == np.uint64(0):
            edge = np.float32(3.6541528853610088)
            while True:
                u = random32(bits)
                beyond = np.float32(-0.27366123732975828) * libm_log1p(-u)
                u = random32(bits)
                y = -libm_log1p(-u)
                if y + y > beyond * beyond:
                    x = edge + beyond
                    if distance & np.uint64(256):
                        x = -x
                    return x
        u = random32(bits)
        top, bottom = normal_height32(layer - np.uint64(1)), normal_height32(layer)
        wide = np.float64(x)
        if np.float64((top - bottom) * u + bottom) < libm_exp(-0.5 * wide * wide):
            return x


def exponential64(bits: Any) -> Any:
    """Draw from the standard exponential distribution."""
    while True:
        word = bits.word64()
        layer = (word >> np.uint64(3)) & np.uint64(255)
        distance = word >> np.uint64(11)
        x = np.float64(np.int64(distance)) * exponential_width64(layer)
        if distance < exponential_inside64(layer):
            return x
        u = random64(bits)
        if layer == np.uint64(0):
            return np.float64(7.6971174701310497) - libm_log1p(-u)
        top, bottom = exponential_height64(layer - np.uint64(1)), exponential_height64(layer)
        if (top - bottom) * u + bottom < libm_exp(-x):
            return x


def exponential32(bits: Any) -> Any:
    """Draw from the standard exponential distribution, in single precision."""
    while True:
        word = bits.word32()
        layer = (word >> np.uint64(1)) & np.uint64(255)
        distance = word >> np.uint64(9)
        x = np.float32(np.int64(distance)) * exponential_width32(layer)
        if distance < np.uint64(exponential_inside32(layer)):
            return x
        u = random32(bits)
        if layer == np.uint64(0):
            x = np.float32(7.6971174701310497) - libm_log1p(-u)
            return x
        top, bottom = exponential_height32(layer - np.uint64(1)), exponential_height32(layer)
        if (top - bottom) * u + bottom < libm_exp(-x):
            return x


# -- integers --------------------------------------------------------------------------------------


def bounded(bits: Any, most: Word) -> Word:
    """Draw an integer from 0 to `most` with equal probability (Lemire, 2019)."""
    if most == np.uint64(0):
        return most
    count = most + np.uint64(1)
    if most <= np.uint64(0xFFFFFFFF):
        word = bits.word32()
        if most == np.uint64(0xFFFFFFFF):
            return word
        product = word * count
        rest = product & np.uint64(0xFFFFFFFF)
        if rest < count:
            threshold = (np.uint64(0xFFFFFFFF) - most) % count
            while rest < threshold:
                word = bits.word32()
                product = word * count
                rest = product & np.uint64(0xFFFFFFFF)
        return product >> np.uint64(32)
    word = bits.word64()
    if count == np.uint64(0):
        return word
    rest = word * count
    if rest < count:
        threshold = ~most % count
        while rest < threshold:
            word = bits.word64()
            rest = word * count
    # The high word of the product.
    mask, half_bits = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = word & mask, word >> half_bits
    c, d = count & mask, count >> half_bits
    middle = b * c + ((a * c) >> half_bits)
    carry = (middle & mask) + a * d
    product = b * d + (middle >> half_bits) + (carry >> half_bits)
    return product


def interval(bits: Any, most: Word) -> Word:
    """Draw an integer from 0 to `most`, which is not 0, by cutting off bits of words."""
    mask = most
    for shift in (1, 2, 4, 8, 16, 32):
        mask = mask | (mask >> np.uint64(shift))
    value = most + np.uint64(1)
    while value > most:
        if most <= np.uint64(0xFFFFFFFF):
            word = bits.word32()
        else:
            word = bits.word64()
        value = word & mask
    return value


def shuffle(bits: Any, index: Any, first: int, masked: bool) -> Word:
    """Exchange the elements of `index` from the last one to `first`, each with one before it.

    NumPy draws the other element in one way for permutations (`masked`), in another for samples.
    """
    draw = interval if masked else bounded
    for i in range(len(index) - 1, first - 1, -1):
        j = np.int64(draw(bits, np.uint64(i)))
        index[i], index[j] = index[j], index[i]
    return np.uint64(0)


def sample(bits: Any, index: Any, count: int, shuffled: bool) -> Word:
    """Fill `index` with different integers below `count`."""
    size = len(index)
    if count > 10000 and size > count // (50 if shuffled else 20):
        every = np.arange(count)
        shuffle(bits, every, max(count - size, 1), False)
        index[:] = every[count - size :]
    else:  # Floyd's algorithm
        taken = np.zeros(count, np.bool_)
        for k in range(size):
            last = count - size + k
            chosen = np.int64(bounded(bits, np.uint64(last)))
            if taken[chosen]:
                chosen = np.int64(last)
            taken[chosen] = True
            index[k] = chosen
        if shuffled:
            shuffle(bits, index, 1, False)
    return np.uint64(0)


# -- seeds -----------------------------------------------------------------------------------------


def scrambled(word: Word, factor: Word) -> Word:
    """Return 32 bits that depend on all bits of `word`."""
    mask = np.uint64(0xFFFFFFFF)
    word = (word * factor) & mask
    return word ^ (word >> np.uint64(16))


def seeded(seed: Word) -> Any:
    """Return the state of ``np.random.default_rng(seed)``, as O'Neill's `seed_seq` makes it."""
    mask = np.uint64(0xFFFFFFFF)
    pool = np.zeros(4, np.uint64)
    pool[0] = seed & mask
    pool[1] = seed >> np.uint64(32)
    # What words are mixed with changes from one to the next.
    key = np.uint64(0x43B0D7E5)
    for k in range(4):
        before = key
        key = (key * np.uint64(0x931E8875)) & mask
        pool[k] = scrambled(pool[k] ^ before, key)
    for source in range(4):
        for target in range(4):
            if source != target:
                before = key
                key = (key * np.uint64(0x931E8875)) & mask
                other = scrambled(pool[source] ^ before, key)
                mixed = pool[target] * np.uint64(0xCA01F9DD) - other * np.uint64(0x4973F715)
                mixed = mixed & mask
                pool[target] = mixed ^ (mixed >> np.uint64(16))
    found = np.zeros(8, np.uint64)
    key = np.uint64(0x8B51F9DD)
    for k in range(8):
        before = key
        key = (key * np.uint64(0x58F38DED)) & mask
        found[k] = scrambled(pool[k % 4] ^ before, key)
    words = np.zeros(6, np.uint64)
    for k in range(4):
        words[k] = found[2 * k] | (found[2 * k + 1] << np.uint64(32))
    # The increment is odd. From the state 0 a step leads to the increment, then the seed is added.
    one = np.uint64(1)
    step_high = (words[2] << one) | (words[3] >> np.uint64(63))
    step_low = (words[3] << one) | one
    low = step_low + words[1]
    high = step_high + words[0]
    if low < step_low:
        high = high + one
    words[0] = pcg64_high(high, low, step_high, step_low)
    words[1] = low * np.uint64(0x4385DF649FCCF645) + step_low
    words[2] = step_high
    words[3] = step_low
    return words


# -- checks of arguments ---------------------------------------------------------------------------


def require_not_negative(scale: Any) -> None:
    """Raise the error of a negative scale."""
    if np.any(np.logical_and(np.signbit(scale), np.logical_not(np.isnan(scale)))):
        raise ValueError("scale < 0")


def require_finite(width: Any) -> None:
    """Raise the error of the bounds of a uniform distribution of a `RandomState`."""
    if not np.all(np.isfinite(width)):
        raise OverflowError("Range exceeds valid bounds")


def require_range(width: Any) -> None:
    """Raise the errors of the bounds of a uniform distribution, of their difference."""
    if not np.all(np.isfinite(width)):
        raise OverflowError("high - low range exceeds valid bounds")
    if np.any(np.signbit(width)):
        raise ValueError("high - low < 0")


def require_probabilities(p: Any, tolerance: float, what: str, after: str) -> None:
    """Raise the errors of probabilities, which begin with `what`; that of the sum ends `after` it.

    There is one probability at least.
    """
    # The sum compensates for rounding (Kahan), the distribution does not.
    total, error = p[0], 0.0
    for k in range(1, len(p)):
        y = p[k] - error
        t = total + y
        error = (t - total) - y
        total = t
    if np.isnan(total):
        raise ValueError(f"{what} contain NaN")
    if np.any(p < 0.0):
        raise ValueError(f"{what} are not non-negative")
    if abs(total - 1.0) > tolerance:
        raise ValueError(f"{what} do not sum to 1{after}")


def accumulated(p: Any) -> Any:
    """Return the sums of the first elements of `p`, divided by the sum of all."""
    found = np.empty(len(p))
    sofar = p[0]
    found[0] = sofar
    for k in range(1, len(p)):
        sofar = sofar + p[k]
        found[k] = sofar
    return found / sofar


def positions(cumulative: Any, uniform: Any) -> Any:
    """Return the position of each of some numbers among cumulative probabilities."""
    found = np.empty(len(uniform), np.int64)
    for k in range(len(uniform)):
        found[k] = bisect_right(cumulative, uniform[k])
    return found


def weighted_sample(bits: Any, index: Any, given: Any) -> Word:
    """Fill `index` with different integers, of the probabilities `given`."""
    p = given.copy()
    size = len(index)
    if np.sum(p > 0.0) < size:
        raise ValueError("Fewer non-zero entries in p than size")
    count = 0
    while count < size:
        # What is found in one round has its probability until the next one.
        start = count
        for k in range(start):
            p[index[k]] = 0.0
        table = accumulated(p)
        for _ in range(size - start):
            chosen = bisect_right(table, random64(bits))
            known = False
            for k in range(start, count):
                known = known or index[k] == chosen
            if not known:
                index[count] = chosen
                count += 1
    return np.uint64(0)
