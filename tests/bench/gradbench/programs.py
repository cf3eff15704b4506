"""Objectives of GradBench as plain Python: determinant, bundle adjustment, k-means, hand tracking.

They are written from their definitions: the last three are ADBench's (Srajer, Kukelova, Fitzgibbon
2018, "A benchmark of selected algorithmic differentiation tools") and GradBench's. `gradbench.cpp`
has the same by hand.
"""

import math
from typing import Any

import numpy as np

import adc

# --- the determinant, by expansion along the first row --------------------------------------------


def minor(a: Any, size: int, rows: Any, columns: Any) -> Any:
    """Return the determinant of what is left of `a`: `rows[i]` is the row that follows row i.

    The first one follows row n, where n is the size of `a`; `columns` is the same of columns.
    """
    n = a.shape[0]
    row = rows[n]
    column = columns[n]
    if size == 1:
        return a[row, column]
    total = 0.0
    sign = 1.0
    rows[n] = rows[row]
    before = n
    for _ in range(size):
        columns[before] = columns[column]
        rest = minor(a, size - 1, rows, columns)
        columns[before] = column
        total += sign * a[row, column] * rest
        before = column
        column = columns[column]
        sign = -sign
    rows[n] = row
    return total


def determinant(a: Any) -> Any:
    n = a.shape[0]
    rows = np.zeros(n + 1, np.int64)
    columns = np.zeros(n + 1, np.int64)
    for i in range(n):
        rows[i] = i + 1
        columns[i] = i + 1
    return minor(a, n, rows, columns)


# --- bundle adjustment ----------------------------------------------------------------------------


def cross(a: Any, b: Any) -> Any:
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotated(rotation: Any, point: Any) -> Any:
    """Rotate a point by an angle about an axis (Rodrigues): the vector has both."""
    square = rotation[0] ** 2 + rotation[1] ** 2 + rotation[2] ** 2
    result = np.empty(3)
    if square != 0.0:
        theta = math.sqrt(square)
        cosine = math.cos(theta)
        sine = math.sin(theta)
        axis = rotation / theta
        normal = cross(axis, point)
        along = (axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]) * (1.0 - cosine)
        for i in range(3):
            result[i] = point[i] * cosine + normal[i] * sine + axis[i] * along
    else:
        normal = cross(rotation, point)
        for i in range(3):
            result[i] = point[i] + normal[i]
    return result


def projected(camera: Any, point: Any) -> Any:
    """Return where a camera sees a point; it has rotation, centre, focal length, origin, lens."""
    seen = rotated(camera[:3], point - camera[3:6])
    image = seen[:2] / seen[2]
    square = np.sum(image * image)
    image = image * (1.0 + camera[9] * square + camera[10] * square * square)
    return image * camera[6] + camera[7:9]


def error(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    return weight * (projected(camera, point) - feature)


def bundle(cameras: Any, points: Any, weights: Any, observed: Any, features: Any) -> Any:
    """Return the errors of observations, of a point by a camera each, and those of weights."""
    n = observed.shape[0]
    errors = np.empty((n, 2))
    for i in range(n):
        camera = cameras[observed[i, 0]]
        point = points[observed[i, 1]]
        errors[i] = error(camera, point, weights[i], features[i])
    return errors, 1.0 - weights * weights


def bundle_jacobian(cameras: Any, points: Any, weights: Any, observed: Any, features: Any) -> Any:
    """Return for each observation the derivatives of its two errors, and those of weights.

    They are by the camera's eleven numbers, the point's three and the weight.
    """
    n = observed.shape[0]
    found = np.empty((n, 2, 15))
    for i in range(n):
        camera = cameras[observed[i, 0]]
        point = points[observed[i, 1]]
        _, pull = adc.vjp(error, camera, point, weights[i], features[i])
        for k in range(2):
            unit = np.zeros(2)
            unit[k] = 1.0
            by_camera, by_point, by_weight, _ = pull(unit)
            found[i, k, :11] = by_camera
            found[i, k, 11:14] = by_point
            found[i, k, 14] = by_weight
    return found, -2.0 * weights


# --- k-means --------------------------------------------------------------------------------------


def kmeans(centroids: Any, points: Any) -> Any:
    """Add the squared distances of points from the centroids that are closest."""
    n, d = points.shape
    cost = 0.0
    for i in range(n):
        closest = np.inf
        for j in range(centroids.shape[0]):
            distance = 0.0
            for c in range(d):
                delta = points[i, c] - centroids[j, c]
                distance += delta * delta
            if distance < closest:
                closest = distance
        cost += closest
    return cost


kmeans_gradient = adc.grad(kmeans)


def kmeans_direction(centroids: Any, points: Any) -> Any:
    """Return Newton's step: the Hessian is diagonal."""
    along = np.ones_like(centroids), None
    slope, curvature = adc.jvp(kmeans_gradient, (centroids, points), along)
    return slope / curvature


# --- hand tracking --------------------------------------------------------------------------------


def about_axis(rotation: Any) -> Any:
    """Return the matrix that rotates by an angle about an axis."""
    norm = math.sqrt(rotation[0] ** 2 + rotation[1] ** 2 + rotation[2] ** 2)
    if norm < 0.0001:
        return np.eye(3)
    x, y, z = rotation[0] / norm, rotation[1] / norm, rotation[2] / norm
    s, c = math.sin(norm), math.cos(norm)
    return np.array(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def by_angles(tx: Any, tz: Any, ty: Any) -> Any:
    """Return the matrix of three rotations, about x, then y, then z."""
    turn = np.eye(4)
    rx, ry, rz = np.eye(3), np.eye(3), np.eye(3)
    rx[1, 1] = rx[2, 2] = math.cos(tx)
    rx[2, 1] = math.sin(tx)
    rx[1, 2] = -rx[2, 1]
    ry[0, 0] = ry[2, 2] = math.cos(ty)
    ry[0, 2] = math.sin(ty)
    ry[2, 0] = -ry[0, 2]
    rz[0, 0] = rz[1, 1] = math.cos(tz)
    rz[1, 0] = math.sin(tz)
    rz[0, 1] = -rz[1, 0]
    turn[:3, :3] = rz @ ry @ rx
    return turn


def posed(theta: Any, bones: int) -> Any:
    """Return three angles of each bone: the wrist's, four of five fingers each, the forearm's.

    `theta` has the rotation and translation of the hand, and four angles of each finger.
    """
    angles = np.zeros((bones, 3))
    at, bone = 6, 2
    for _ in range(5):
        for joint in range(3):
            angles[bone, 0] = theta[at]
            at += 1
            if joint == 0:
                angles[bone, 1] = theta[at]
                at += 1
            bone += 1
        bone += 1
    return angles


def hand(
    theta: Any, parents: Any, relatives: Any, inverses: Any, base: Any, weights: Any, wanted: Any,
    measured: Any,
) -> Any:  # fmt: skip
    """Return how far points of a hand are from where they were measured.

    A bone is posed relative to its parent, a vertex of `base` (4 x vertices) moves with all bones
    by `weights` (bones x vertices); `wanted` has the vertices that were measured.
    """
    bones = parents.shape[0]
    angles = posed(theta, bones)
    absolutes = np.zeros((bones, 4, 4))
    positions = np.zeros((3, base.shape[1]))
    for k in range(bones):
        relative = relatives[k] @ by_angles(angles[k, 0], angles[k, 1], angles[k, 2])
        if parents[k] < 0:
            absolutes[k] = relative
        else:
            absolutes[k] = absolutes[parents[k]] @ relative
        transform = absolutes[k] @ inverses[k]
        positions += (transform[:3] @ base) * weights[k]
    moved = about_axis(theta[:3]) @ positions + theta[3:6].reshape(3, 1)
    return measured - moved[:, wanted]
