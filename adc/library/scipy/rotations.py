"""`scipy.spatial.transform`: rotations of space, as unit quaternions with the scalar last.

Values are SciPy's. Where those have a removable singularity, as the rotation vector of a rotation
by a small angle has, series in the square of the angle have derivatives of all orders there. At a
true kink, as the angle of the identity is, adc's derivative is 0.

Euler angles are found from half sums and differences [1]_, a mean by an eigenvector [2]_.

References
----------
.. [1] E. Bernardes, S. Viollet. Quaternion to Euler angles conversion: a direct, general and
   computationally efficient method. PLoS ONE 17(11), 2022.
.. [2] F. L. Markley, Y. Cheng, J. L. Crassidis, Y. Oshman. Averaging quaternions. Journal of
   Guidance, Control, and Dynamics 30(4), 2007.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.scipy.linalg.factors import polar

_DEGREE = math.pi / 180.0


def _numbers(given: Any) -> Any:
    found = np.asarray(given)
    if np.iscomplexobj(found):
        raise Unsupported("a rotation of complex numbers", "pass real numbers")
    return found.astype(np.float64)


def _columns(q: Any) -> Any:
    return q[..., 0], q[..., 1], q[..., 2], q[..., 3]


def _packed(x: Any, y: Any, z: Any, w: Any) -> Any:
    return np.stack((x, y, z, w), axis=-1)


def _normalized(q: Any) -> Any:
    size = np.sqrt(np.sum(q * q, axis=-1))
    if np.any(size == 0.0):
        raise ValueError("Found zero norm quaternions in `quat`.")
    return q / size[..., None]


def _product(p: Any, q: Any) -> Any:
    """Return the product of two quaternions, as columns."""
    a, b, c, d = p
    x, y, z, w = q
    return (
        d * x + w * a + b * z - c * y,
        d * y + w * b + c * x - a * z,
        d * z + w * c + a * y - b * x,
        d * w - a * x - b * y - c * z,
    )


def _canonical(q: Any) -> Any:
    """Return 1 where a quaternion has the sign by which it is unique, else -1."""
    x, y, z, w = _columns(stop_gradient(q))
    last = (x == 0.0) & ((y < 0.0) | ((y == 0.0) & (z < 0.0)))
    return np.where((w < 0.0) | ((w == 0.0) & ((x < 0.0) | last)), -1.0, 1.0)


def _length(square: Any) -> Any:
    """Return the square root; its derivative at 0 is 0."""
    return np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, 1.0)), 0.0)


def _require_broadcastable(p: Any, q: Any, problem: str) -> None:
    """Raise unless arrays with such shapes, one row each, can be combined."""
    for m, n in zip(p[::-1], q[::-1], strict=False):
        if m != n and m != 1 and n != 1:
            raise ValueError(problem)


# --- from other forms -----------------------------------------------------------------------------


def _of_vector(v: Any) -> Any:
    """Return quaternions of rotation vectors."""
    square = np.sum(v * v, axis=-1)
    small = square <= 1e-6
    s = np.where(small, square, 0.0)
    near = 0.5 + s * (-1 / 48 + s * (1 / 3840 + s * (-1 / 645120 + s / 185794560)))
    near_w = 1.0 + s * (-1 / 8 + s * (1 / 384 + s * (-1 / 46080 + s / 10321920)))
    angle = np.sqrt(np.where(small, 1.0, square))
    scale = np.where(small, near, np.sin(angle / 2) / angle)
    w = np.where(small, near_w, np.cos(angle / 2))
    return _packed(v[..., 0] * scale, v[..., 1] * scale, v[..., 2] * scale, w)


def _nearest(matrix: Any) -> Any:
    """Return the rotation matrices next to matrices.

    SciPy leaves those as they are that are orthogonal to rounding, and so they are here. But the
    derivative is that of the nearest one: a change of an element makes a matrix not orthogonal.
    """
    found = np.empty(matrix.shape)
    for k in range(matrix.shape[0]):
        m = matrix[k]
        if np.linalg.det(m) <= 0.0:
            raise ValueError(
                "Non-positive determinant (left-handed or null coordinate frame) in rotation "
                f"matrix {k}."
            )
        found[k] = polar(m)[0]
        if np.allclose(m @ m.T, np.eye(3), atol=1e-12):
            found[k] += stop_gradient(m - found[k])
    return found


def _of_matrix(m: Any) -> Any:
    """Return quaternions of rotation matrices.

    The largest element is found first: there are four formulas, and its one has all digits.
    """
    q = np.empty((m.shape[0], 4))
    for n in range(m.shape[0]):
        trace = m[n, 0, 0] + m[n, 1, 1] + m[n, 2, 2]
        i, most = 3, trace
        for k in (2, 1, 0):
            if m[n, k, k] >= most:
                i, most = k, m[n, k, k]
        if i == 3:
            q[n, 0] = m[n, 2, 1] - m[n, 1, 2]
            q[n, 1] = m[n, 0, 2] - m[n, 2, 0]
            q[n, 2] = m[n, 1, 0] - m[n, 0, 1]
            q[n, 3] = 1.0 + trace
        else:
            j = (i + 1) % 3
            k = (i + 2) % 3
            q[n, i] = 1.0 - trace + 2.0 * m[n, i, i]
            q[n, j] = m[n, j, i] + m[n, i, j]
            q[n, k] = m[n, k, i] + m[n, i, k]
            q[n, 3] = m[n, k, j] - m[n, j, k]
    return _normalized(q)


def from_quat(quat: Any, *, scalar_first: Any = False) -> Any:
    """`scipy.spatial.transform.Rotation.from_quat`."""
    return Rotation(quat, True, True, scalar_first)


def from_matrix(matrix: Any, *, assume_valid: Any = False) -> Any:
    """`scipy.spatial.transform.Rotation.from_matrix`."""
    given = _numbers(matrix)
    if given.ndim < 2 or given.shape[-1] != 3 or given.shape[-2] != 3:
        raise ValueError(f"Expected `matrix` to have shape (3, 3) or (N, 3, 3), got {given.shape}")
    rows = given.reshape((-1, 3, 3))
    found = _of_matrix(rows if assume_valid else _nearest(rows))
    return Rotation(found.reshape((*given.shape[:-2], 4)), False)


def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
    """`scipy.spatial.transform.Rotation.from_rotvec`."""
    given = _numbers(rotvec)
    if given.ndim == 0 or given.shape[-1] != 3:
        raise ValueError(f"Expected `rot_vec` to have shape (3,) or (N, 3), got {given.shape}")
    found = _of_vector(given.reshape((-1, 3)) * (_DEGREE if degrees else 1.0))
    return Rotation(found.reshape((*given.shape[:-1], 4)), False)


def from_mrp(mrp: Any) -> Any:
    """`scipy.spatial.transform.Rotation.from_mrp`."""
    given = _numbers(mrp)
    if given.ndim == 0 or given.shape[-1] != 3:
        raise ValueError(f"Expected `mrp` to have shape (3,) or (N, 3), got {given.shape}")
    v = given.reshape((-1, 3))
    size = 1.0 + np.sum(v * v, axis=-1)
    found = _packed(
        2.0 * v[:, 0] / size, 2.0 * v[:, 1] / size, 2.0 * v[:, 2] / size, (2.0 - size) / size
    )
    return Rotation(found.reshape((*given.shape[:-1], 4)), False)


def _axes_of(seq: Any) -> Any:
    """Return numbers of axes, and whether the rotations are about those of the moved frame."""
    intrinsic = all([letter in "XYZ" for letter in seq])
    if not intrinsic and not all([letter in "xyz" for letter in seq]):
        raise ValueError(
            "Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got " + seq
        )
    axes = ["xyz".index(letter) for letter in seq.lower()]
    for k in range(len(axes) - 1):
        if axes[k] == axes[k + 1]:
            raise ValueError("Expected consecutive axes to be different, got " + seq)
    return axes, intrinsic


def _about(axis: Any, angle: Any) -> Any:
    """Return quaternions of rotations about an axis of coordinates, as columns."""
    sine, zero = np.sin(angle / 2), np.zeros(len(angle))
    x, y, z = [sine if k == axis else zero for k in range(3)]
    return x, y, z, np.cos(angle / 2)


def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
    """`scipy.spatial.transform.Rotation.from_euler`."""
    if len(seq) < 1 or len(seq) > 3:
        raise ValueError(
            "Expected axis specification to be a non-empty string of upto 3 characters, got " + seq
        )
    axes, intrinsic = _axes_of(seq)
    given = np.atleast_1d(_numbers(angles))
    if given.shape[-1] != len(axes):
        raise ValueError(
            "Expected last dimension of `angles` to match number of sequence axes specified, got "
            f"{given.shape[-1]}."
        )
    rows = given.reshape((-1, len(axes))) * (_DEGREE if degrees else 1.0)
    found = _about(axes[0], rows[:, 0])
    for k in range(1, len(axes)):
        each = _about(axes[k], rows[:, k])
        found = _product(found, each) if intrinsic else _product(each, found)
    x, y, z, w = found
    return Rotation(_packed(x, y, z, w).reshape((*given.shape[:-1], 4)), False)


def identity(num: Any = None, *, shape: Any = None) -> Any:
    """`scipy.spatial.transform.Rotation.identity`."""
    if num is not None and shape is not None:
        raise ValueError("Only one of `num` or `shape` can be specified.")
    sizes: Any = ()
    if num is not None:
        sizes = (num,)
    elif isinstance(shape, (tuple, list)):
        sizes = tuple(shape)
    elif shape is not None:
        sizes = (shape,)
    found = np.zeros((*sizes, 4))
    found[..., 3] = 1.0
    return Rotation(found, False)


def concatenate(rotations: Any) -> Any:
    """`scipy.spatial.transform.Rotation.concatenate`."""
    if isinstance(rotations, Rotation):
        return Rotation(rotations.as_quat(), False)
    for each in rotations:
        if not isinstance(each, Rotation):
            raise TypeError("input must contain Rotation objects only")
    return Rotation(np.concatenate([each._quat for each in rotations]), False)


def from_davenport(*args: Any, **kwargs: Any) -> Any:
    """`scipy.spatial.transform.Rotation.from_davenport`."""
    raise Unsupported(
        "`scipy.spatial.transform.Rotation.from_davenport`",
        "multiply rotations about the axes: `Rotation.from_rotvec(angle * axis)`",
    )


def random(*args: Any, **kwargs: Any) -> Any:
    """`scipy.spatial.transform.Rotation.random`."""
    raise Unsupported(
        "`scipy.spatial.transform.Rotation.random`",
        "draw four normal numbers for `Rotation.from_quat` with `np.random.Generator`",
    )


def align_vectors(*args: Any, **kwargs: Any) -> Any:
    """`scipy.spatial.transform.Rotation.align_vectors`."""
    raise Unsupported(
        "`scipy.spatial.transform.Rotation.align_vectors`",
        "pass the orthogonal factor of `scipy.linalg.polar(a.T @ b)` to `Rotation.from_matrix`",
    )


# --- rotations ------------------------------------------------------------------------------------


class Rotation:
    """`scipy.spatial.transform.Rotation`."""

    def __init__(
        self, quat: Any, normalize: Any = True, copy: Any = True, scalar_first: Any = False
    ) -> None:
        q = _numbers(quat)
        if q.ndim == 0:
            raise IndexError("tuple index out of range")
        if q.shape[-1] != 4:
            raise ValueError(f"Expected `quat` to have shape (..., 4), got {q.shape}.")
        self.shape = q.shape[:-1]
        if q.ndim == 1:
            q = q[None]
        if scalar_first:
            q = np.roll(q, -1, axis=-1)
        self._quat = _normalized(q) if normalize else q.copy()

    from_quat = staticmethod(from_quat)
    from_matrix = staticmethod(from_matrix)
    from_rotvec = staticmethod(from_rotvec)
    from_mrp = staticmethod(from_mrp)
    from_euler = staticmethod(from_euler)
    from_davenport = staticmethod(from_davenport)
    identity = staticmethod(identity)
    random = staticmethod(random)
    concatenate = staticmethod(concatenate)
    align_vectors = staticmethod(align_vectors)

    @property
    def single(self) -> Any:
        """Whether this is one rotation, and no stack of them."""
        return len(self.shape) == 0

    def _arranged(self, found: Any) -> Any:
        """Return what was found for each rotation, without the axis that a single one has not."""
        return found[0] if self.single else found

    # --- other forms ------------------------------------------------------------------------------

    def as_quat(self, canonical: Any = False, *, scalar_first: Any = False) -> Any:
        """`scipy.spatial.transform.Rotation.as_quat`."""
        q = self._quat.copy()
        if canonical:
            q = q * _canonical(q)[..., None]
        if scalar_first:
            q = np.roll(q, 1, axis=-1)
        return self._arranged(q)

    def _elements(self) -> Any:
        """Return the elements of the matrices, as columns."""
        x, y, z, w = _columns(self._quat)
        xx, yy, zz, ww = x * x, y * y, z * z, w * w
        xy, zw, xz, yw, yz, xw = x * y, z * w, x * z, y * w, y * z, x * w
        return (
            (xx - yy - zz + ww, 2.0 * (xy - zw), 2.0 * (xz + yw)),
            (2.0 * (xy + zw), -xx + yy - zz + ww, 2.0 * (yz - xw)),
            (2.0 * (xz - yw), 2.0 * (yz + xw), -xx - yy + zz + ww),
        )

    def as_matrix(self) -> Any:
        """`scipy.spatial.transform.Rotation.as_matrix`."""
        rows = self._elements()
        found = np.empty((*self._quat.shape[:-1], 3, 3))
        for i in range(3):
            for j in range(3):
                found[..., i, j] = rows[i][j]
        return self._arranged(found)

    def as_rotvec(self, degrees: Any = False) -> Any:
        """`scipy.spatial.transform.Rotation.as_rotvec`."""
        q = self._quat * _canonical(self._quat)[..., None]
        x, y, z, w = _columns(q)
        sine = x * x + y * y + z * z
        # The tangent of half the angle is below 0.0005: SciPy's limit, and the same values.
        small = sine <= 2.5e-7 * (w * w)
        t = np.where(small, sine / np.where(small, w * w, 1.0), 0.0)
        near = 1.0 + t * (-1 / 3 + t * (1 / 5 + t * (-1 / 7 + t / 9)))
        angle = 2.0 * np.arctan2(np.sqrt(np.where(small, 1.0, sine)), w)
        half = np.sin(np.where(small, 1.0, angle / 2))
        scale = np.where(small, 2.0 * np.sqrt(1.0 + t) * near, angle / half)
        if degrees:
            scale = scale / _DEGREE
        return self._arranged(np.stack((x * scale, y * scale, z * scale), axis=-1))

    def as_mrp(self) -> Any:
        """`scipy.spatial.transform.Rotation.as_mrp`."""
        q = self._quat
        sign = np.where(q[..., 3] < 0.0, -1.0, 1.0)
        return self._arranged(q[..., :3] * (sign / (1.0 + sign * q[..., 3]))[..., None])

    def as_euler(self, seq: Any, degrees: Any = False, *, suppress_warnings: Any = False) -> Any:
        """`scipy.spatial.transform.Rotation.as_euler`."""
        if len(seq) != 3:
            raise ValueError("Expected 3 axes, got " + seq + ".")
        axes, intrinsic = _axes_of(seq)
        i, j, k = axes[::-1] if intrinsic else axes
        symmetric = i == k
        if symmetric:
            k = 3 - i - j
        sign = (i - j) * (j - k) * (k - i) // 2
        q = _columns(self._quat)
        a, b, c, d = q[3], q[i], q[j], sign * q[k]
        if not symmetric:
            a, b, c, d = a - c, b + d, c + a, d - b
        half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
        second = 2.0 * np.arctan2(_length(c * c + d * d), _length(a * a + b * b))
        at_zero, at_pi = np.abs(second) <= 1e-7, np.abs(second - np.pi) <= 1e-7
        locked = at_zero | at_pi
        if not suppress_warnings and np.any(locked):
            warnings.warn(
                "Gimbal lock detected. Setting third angle to zero since it is not possible to "
                "uniquely determine all angles.",
                stacklevel=2,
            )
        turned = 2.0 * half_difference if intrinsic else -2.0 * half_difference
        alone = np.where(at_zero, 2.0 * half_sum, turned)
        first, third = half_sum - half_difference, half_sum + half_difference
        if intrinsic:
            first, third = np.where(locked, 0.0, first), np.where(locked, alone, third)
        else:
            first, third = np.where(locked, alone, first), np.where(locked, 0.0, third)
        if not symmetric:
            third = third * sign
            second = second - np.pi / 2
        if intrinsic:
            first, third = third, first
        found = np.stack((_wrapped(first), _wrapped(second), _wrapped(third)), axis=-1)
        return self._arranged(found / _DEGREE if degrees else found)

    def magnitude(self) -> Any:
        """`scipy.spatial.transform.Rotation.magnitude`."""
        x, y, z, w = _columns(self._quat)
        return self._arranged(2.0 * np.arctan2(_length(x * x + y * y + z * z), np.abs(w)))

    # --- operations -------------------------------------------------------------------------------

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        """`scipy.spatial.transform.Rotation.apply`."""
        v = _numbers(vectors)
        if v.ndim == 0:
            raise IndexError("tuple index out of range")
        if v.shape[-1] != 3:
            raise ValueError(f"Expected input of shape (..., 3), got {v.shape}.")
        alone = v.ndim == 1
        if alone:
            v = v[None]
        _require_broadcastable(
            self._quat.shape[:-1], v.shape[:-1],
            f"Cannot broadcast {self._quat.shape[0]} rotations to {v.shape[0]} vectors.",
        )  # fmt: skip
        m = self._elements()
        if inverse:
            m = [[m[j][i] for j in range(3)] for i in range(3)]
        x, y, z = v[..., 0], v[..., 1], v[..., 2]
        found = np.stack([m[i][0] * x + m[i][1] * y + m[i][2] * z for i in range(3)], axis=-1)
        return found[0] if alone and self.single else found

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Rotation):
            return NotImplemented
        _require_broadcastable(
            self._quat.shape[:-1], other._quat.shape[:-1],
            f"Cannot broadcast {self._quat.shape[:-1]} rotations in first to "
            f"{other._quat.shape[:-1]} rotations in second object.",
        )  # fmt: skip
        x, y, z, w = _product(_columns(self._quat), _columns(other._quat))
        found = _packed(x, y, z, w)
        return Rotation(found[0] if self.single and other.single else found)

    def __pow__(self, n: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise NotImplementedError("modulus not supported")
        power = np.asarray(n)
        if power.shape == (1,):
            power = power[0]
        elif power.ndim != 0:
            raise ValueError("Array exponent must be a scalar")
        found = _of_vector(power * Rotation(self._quat, False).as_rotvec())
        if power == 1 or power == -1:
            # SciPy keeps the sign there. The derivative by `n` is that of the formula.
            found = found * _canonical(self._quat)[..., None]
        return Rotation(self._arranged(found), False)

    def inv(self) -> Any:
        """`scipy.spatial.transform.Rotation.inv`."""
        x, y, z, w = _columns(self._quat)
        return Rotation(self._arranged(_packed(-x, -y, -z, w)), False)

    def approx_equal(self, other: Any, atol: Any = None, degrees: Any = False) -> Any:
        """`scipy.spatial.transform.Rotation.approx_equal`."""
        if atol is None and degrees:
            warnings.warn(
                "atol must be set to use the degrees flag, defaulting to 1e-8 radians.",
                stacklevel=2,
            )
        limit = 1e-8 if atol is None else (atol * _DEGREE if degrees else atol)
        return (other * self.inv()).magnitude() < limit

    def mean(self, weights: Any = None, axis: Any = None) -> Any:
        """`scipy.spatial.transform.Rotation.mean`."""
        if axis is not None:
            raise Unsupported(
                "`scipy.spatial.transform.Rotation.mean` with `axis`", "take means in a loop"
            )
        q = self._quat.reshape((-1, 4))
        if len(q) == 0:
            raise ValueError("Mean of an empty rotation set is undefined.")
        scaled = q
        if weights is not None:
            w = _numbers(weights)
            if self._quat.ndim > 2 or w.ndim != 1:
                raise Unsupported(
                    "`weights` that are no vector", "pass one for each rotation of a vector of them"
                )
            if np.any(w < 0):
                raise ValueError("`weights` must be non-negative.")
            if len(w) != len(q):
                raise ValueError(
                    "Expected `weights` to have number of values equal to number of rotations, got "
                    f"{len(w)} values and {len(q)} rotations."
                )
            scaled = q * w[:, None]
        _, vectors = np.linalg.eigh(scaled.T @ q)
        return Rotation(vectors[:, 3], False)

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """`scipy.spatial.transform.Rotation.reduce`."""
        raise Unsupported(
            "`scipy.spatial.transform.Rotation.reduce`", "compute it outside, and pass the result"
        )

    def as_davenport(self, *args: Any, **kwargs: Any) -> Any:
        """`scipy.spatial.transform.Rotation.as_davenport`."""
        raise Unsupported(
            "`scipy.spatial.transform.Rotation.as_davenport`", "use `as_euler` or `as_rotvec`"
        )

    # --- stacks -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return len(self._quat)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, indexer: Any) -> Any:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self._quat[indexer], False)

    def __setitem__(self, indexer: Any, value: Any) -> None:
        raise Unsupported(
            "assignment to elements of a `Rotation`",
            "assign to an array of quaternions, and call `Rotation.from_quat` of it",
        )

    def __iter__(self) -> Any:
        if self.single:
            raise TypeError("Single rotation is not iterable.")
        for k in range(len(self._quat)):
            yield Rotation(self._quat[k], False)


def _wrapped(angle: Any) -> Any:
    """Return an angle between -pi and pi."""
    angle = np.where(angle < -np.pi, angle + 2.0 * np.pi, angle)
    return np.where(angle > np.pi, angle - 2.0 * np.pi, angle)


class Slerp:
    """`scipy.spatial.transform.Slerp`."""

    def __init__(self, times: Any, rotations: Any) -> None:
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) <= 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        if len(rotations.shape) > 1:
            raise ValueError("Rotations with more than 1 leading dimension are not supported.")
        at = _numbers(times)
        if at.ndim != 1:
            raise ValueError(
                "Expected times to be specified in a 1 dimensional array, got "
                f"{at.ndim} dimensions."
            )
        if len(at) != len(rotations):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {len(at)} timestamps."
            )
        self.times = at
        self.timedelta = np.diff(at)
        if np.any(self.timedelta <= 0):
            raise ValueError("Times must be in strictly increasing order.")
        self.rotations = rotations[:-1]
        self.rotvecs = (self.rotations.inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: Any) -> Any:
        given = _numbers(times)
        if given.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        at = np.atleast_1d(given)
        index = np.searchsorted(self.times, at) - 1
        index[at == self.times[0]] = 0
        if np.any((index < 0) | (index > len(self.rotvecs) - 1)):
            raise ValueError(
                f"Interpolation times must be within the range [{self.times[0]}, "
                f"{self.times[-1]}], both inclusive."
            )
        alpha = (at - self.times[index]) / self.timedelta[index]
        turned = Rotation(_of_vector(self.rotvecs[index] * alpha[:, None]), False)
        found = self.rotations[index] * turned
        return found[0] if given.ndim == 0 else found


#: Static methods of `Rotation`.
MAKERS = (
    from_quat, from_matrix, from_rotvec, from_mrp, from_euler, from_davenport, identity, random,
    concatenate, align_vectors,
)  # fmt: skip
__all__ = ["MAKERS", "Rotation", "Slerp"]
