// The objectives of `gradbench_programs`, and what is differentiated of them, by hand.
//
// Arrays are NumPy's in C order. Nothing is allocated that has a size known here.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using Index = int64_t;

// --- the determinant ---------------------------------------------------------------------------

static double minor_of(const double *__restrict a, Index n, Index size, Index *rows, Index *columns) {
  Index row = rows[n], column = columns[n];
  if (size == 1) return a[row * n + column];
  double total = 0, sign = 1;
  rows[n] = rows[row];
  Index before = n;
  for (Index j = 0; j < size; j++) {
    columns[before] = columns[column];
    total += sign * a[row * n + column] * minor_of(a, n, size - 1, rows, columns);
    columns[before] = column;
    before = column;
    column = columns[column];
    sign = -sign;
  }
  rows[n] = row;
  return total;
}

// Adds `scale` times the derivative: how much a minor counts is known before it is computed.
static double minor_d(const double *__restrict a, Index n, Index size, Index *rows, Index *columns,
                      double scale, double *__restrict ct) {
  Index row = rows[n], column = columns[n];
  if (size == 1) {
    ct[row * n + column] += scale;
    return a[row * n + column];
  }
  double total = 0, sign = 1;
  rows[n] = rows[row];
  Index before = n;
  for (Index j = 0; j < size; j++) {
    columns[before] = columns[column];
    double factor = sign * a[row * n + column];
    double rest = minor_d(a, n, size - 1, rows, columns, scale * factor, ct);
    columns[before] = column;
    total += factor * rest;
    ct[row * n + column] += scale * sign * rest;
    before = column;
    column = columns[column];
    sign = -sign;
  }
  rows[n] = row;
  return total;
}

static std::vector<Index> following(Index n) {
  std::vector<Index> next(n + 1);
  for (Index i = 0; i < n; i++) next[i] = i + 1;
  return next;
}

extern "C" double determinant(const double *a, Index n) {
  auto rows = following(n), columns = following(n);
  return minor_of(a, n, n, rows.data(), columns.data());
}

extern "C" double determinant_d(const double *a, Index n, double *ct) {
  auto rows = following(n), columns = following(n);
  std::memset(ct, 0, n * n * sizeof(double));
  return minor_d(a, n, n, rows.data(), columns.data(), 1, ct);
}

// --- bundle adjustment -------------------------------------------------------------------------

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void rotated(const double *rotation, const double *point, double *result) {
  double square =
      rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2];
  double normal[3];
  if (square != 0) {
    double theta = std::sqrt(square), cosine = std::cos(theta), sine = std::sin(theta);
    double axis[3];
    for (int i = 0; i < 3; i++) axis[i] = rotation[i] / theta;
    cross(axis, point, normal);
    double along = (axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]) * (1 - cosine);
    for (int i = 0; i < 3; i++) result[i] = point[i] * cosine + normal[i] * sine + axis[i] * along;
  } else {
    cross(rotation, point, normal);
    for (int i = 0; i < 3; i++) result[i] = point[i] + normal[i];
  }
}

extern "C" void bundle(const double *cameras, const double *points, const double *weights,
                       const Index *observed, const double *features, Index n, double *errors,
                       double *rest) {
  for (Index i = 0; i < n; i++) {
    const double *camera = cameras + 11 * observed[2 * i], *point = points + 3 * observed[2 * i + 1];
    double from[3], seen[3];
    for (int c = 0; c < 3; c++) from[c] = point[c] - camera[3 + c];
    rotated(camera, from, seen);
    double x = seen[0] / seen[2], y = seen[1] / seen[2], square = x * x + y * y;
    double lens = 1 + camera[9] * square + camera[10] * square * square;
    errors[2 * i] = weights[i] * (x * lens * camera[6] + camera[7] - features[2 * i]);
    errors[2 * i + 1] = weights[i] * (y * lens * camera[6] + camera[8] - features[2 * i + 1]);
  }
  for (Index i = 0; i < n; i++) rest[i] = 1 - weights[i] * weights[i];
}

// The derivatives of `rotated` by the rotation and by the point, rows of three.
static void rotated_d(const double *rotation, const double *point, double *result,
                      double by_rotation[3][3], double by_point[3][3]) {
  double square =
      rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2];
  double normal[3];
  if (square != 0) {
    double theta = std::sqrt(square), cosine = std::cos(theta), sine = std::sin(theta);
    double inverse = 1 / theta, axis[3], by_axis[3][3];
    for (int i = 0; i < 3; i++) axis[i] = rotation[i] * inverse;
    cross(axis, point, normal);
    double dot = axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2];
    double less = 1 - cosine, along = dot * less;
    double crossed[3][3] = {{0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
    double turned[3][3] = {
        {0, point[2], -point[1]}, {-point[2], 0, point[0]}, {point[1], -point[0], 0}};
    double by_theta[3];
    for (int i = 0; i < 3; i++) {
      result[i] = point[i] * cosine + normal[i] * sine + axis[i] * along;
      by_theta[i] = normal[i] * cosine - point[i] * sine + axis[i] * dot * sine;
      for (int j = 0; j < 3; j++) {
        by_point[i][j] = crossed[i][j] * sine + less * axis[i] * axis[j];
        by_axis[i][j] = turned[i][j] * sine + less * axis[i] * point[j];
      }
      by_point[i][i] += cosine;
      by_axis[i][i] += along;
    }
    for (int i = 0; i < 3; i++) {
      double back = by_axis[i][0] * axis[0] + by_axis[i][1] * axis[1] + by_axis[i][2] * axis[2];
      for (int j = 0; j < 3; j++)
        by_rotation[i][j] = (by_axis[i][j] - back * axis[j]) * inverse + by_theta[i] * axis[j];
    }
  } else {
    cross(rotation, point, normal);
    for (int i = 0; i < 3; i++) result[i] = point[i] + normal[i];
    double turned[3][3] = {
        {0, point[2], -point[1]}, {-point[2], 0, point[0]}, {point[1], -point[0], 0}};
    double crossed[3][3] = {{1, -rotation[2], rotation[1]},
                            {rotation[2], 1, -rotation[0]},
                            {-rotation[1], rotation[0], 1}};
    std::memcpy(by_rotation, turned, sizeof turned);
    std::memcpy(by_point, crossed, sizeof crossed);
  }
}

extern "C" void bundle_d(const double *cameras, const double *points, const double *weights,
                         const Index *observed, const double *features, Index n, double *jacobian,
                         double *rest) {
  for (Index i = 0; i < n; i++) {
    const double *camera = cameras + 11 * observed[2 * i], *point = points + 3 * observed[2 * i + 1];
    double from[3], seen[3], by_rotation[3][3], by_point[3][3];
    for (int c = 0; c < 3; c++) from[c] = point[c] - camera[3 + c];
    rotated_d(camera, from, seen, by_rotation, by_point);
    double x = seen[0] / seen[2], y = seen[1] / seen[2], square = x * x + y * y;
    double lens = 1 + camera[9] * square + camera[10] * square * square;
    double slope = 2 * camera[9] + 4 * camera[10] * square, image[2] = {x, y};
    double focal = camera[6], weight = weights[i];
    for (int k = 0; k < 2; k++) {
      double *row = jacobian + (2 * i + k) * 15;
      double by_image[2] = {slope * image[k] * x, slope * image[k] * y};
      by_image[k] += lens;
      double scale = weight * focal / seen[2];
      double by_seen[3] = {by_image[0] * scale, by_image[1] * scale,
                           -(by_image[0] * x + by_image[1] * y) * scale};
      for (int j = 0; j < 3; j++) {
        row[j] = by_seen[0] * by_rotation[0][j] + by_seen[1] * by_rotation[1][j] +
                 by_seen[2] * by_rotation[2][j];
        row[11 + j] = by_seen[0] * by_point[0][j] + by_seen[1] * by_point[1][j] +
                      by_seen[2] * by_point[2][j];
        row[3 + j] = -row[11 + j];
      }
      row[6] = weight * image[k] * lens;
      row[7] = k == 0 ? weight : 0;
      row[8] = k == 1 ? weight : 0;
      row[9] = weight * focal * image[k] * square;
      row[10] = row[9] * square;
      row[14] = image[k] * lens * focal + camera[7 + k] - features[2 * i + k];
    }
  }
  for (Index i = 0; i < n; i++) rest[i] = -2 * weights[i];
}

// Adds the derivatives of a number by the rotation and by the point, given those by the result.
static void rotated_reverse(const double *rotation, const double *point, const double *ct,
                            double *by_rotation, double *by_point) {
  double square =
      rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2];
  double normal[3], normal_ct[3], axis_ct[3] = {0, 0, 0};
  if (square == 0) {
    for (int i = 0; i < 3; i++) by_point[i] += ct[i];
    cross(point, ct, normal);
    for (int i = 0; i < 3; i++) by_rotation[i] += normal[i];
    cross(ct, rotation, normal);
    for (int i = 0; i < 3; i++) by_point[i] += normal[i];
    return;
  }
  double theta = std::sqrt(square), cosine = std::cos(theta), sine = std::sin(theta);
  double axis[3], added[3];
  for (int i = 0; i < 3; i++) axis[i] = rotation[i] / theta;
  cross(axis, point, normal);
  double dot = axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2];
  double along = dot * (1 - cosine), along_ct = 0, cosine_ct = 0, sine_ct = 0, theta_ct = 0;
  for (int i = 0; i < 3; i++) {
    by_point[i] += ct[i] * cosine;
    cosine_ct += ct[i] * point[i];
    normal_ct[i] = ct[i] * sine;
    sine_ct += ct[i] * normal[i];
    axis_ct[i] += ct[i] * along;
    along_ct += ct[i] * axis[i];
  }
  double dot_ct = along_ct * (1 - cosine);
  cosine_ct -= along_ct * dot;
  for (int i = 0; i < 3; i++) {
    axis_ct[i] += dot_ct * point[i];
    by_point[i] += dot_ct * axis[i];
  }
  cross(point, normal_ct, added);
  for (int i = 0; i < 3; i++) axis_ct[i] += added[i];
  cross(normal_ct, axis, added);
  for (int i = 0; i < 3; i++) by_point[i] += added[i];
  for (int i = 0; i < 3; i++) {
    by_rotation[i] += axis_ct[i] / theta;
    theta_ct -= axis_ct[i] / theta * axis[i];
  }
  theta_ct += sine_ct * cosine - cosine_ct * sine;
  for (int i = 0; i < 3; i++) by_rotation[i] += theta_ct * axis[i];
}

// The same derivatives by reverse mode, one pass for each of the two errors: rows share nothing.
extern "C" void bundle_rows(const double *cameras, const double *points, const double *weights,
                            const Index *observed, const double *features, Index n,
                            double *jacobian, double *rest) {
  for (Index i = 0; i < n; i++) {
    const double *camera = cameras + 11 * observed[2 * i], *point = points + 3 * observed[2 * i + 1];
    double from[3], seen[3];
    for (int c = 0; c < 3; c++) from[c] = point[c] - camera[3 + c];
    rotated(camera, from, seen);
    double x = seen[0] / seen[2], y = seen[1] / seen[2], square = x * x + y * y;
    double lens = 1 + camera[9] * square + camera[10] * square * square;
    double error[2] = {x * lens * camera[6] + camera[7] - features[2 * i],
                       y * lens * camera[6] + camera[8] - features[2 * i + 1]};
    for (int k = 0; k < 2; k++) {
      double *row = jacobian + (2 * i + k) * 15, unit[2] = {0, 0};
      unit[k] = 1;
      double xct = unit[0] * weights[i], yct = unit[1] * weights[i];
      std::memset(row, 0, 15 * sizeof(double));
      row[14] = unit[0] * error[0] + unit[1] * error[1];
      row[7] = xct;
      row[8] = yct;
      row[6] = xct * x * lens + yct * y * lens;
      xct *= camera[6];
      yct *= camera[6];
      double lens_ct = xct * x + yct * y;
      row[9] = lens_ct * square;
      row[10] = lens_ct * square * square;
      double square_ct = lens_ct * (camera[9] + 2 * camera[10] * square);
      xct = xct * lens + 2 * square_ct * x;
      yct = yct * lens + 2 * square_ct * y;
      double ct[3] = {xct / seen[2], yct / seen[2], -(xct * x + yct * y) / seen[2]};
      rotated_reverse(camera, from, ct, row, row + 11);
      for (int j = 0; j < 3; j++) row[3 + j] = -row[11 + j];
    }
  }
  for (Index i = 0; i < n; i++) rest[i] = -2 * weights[i];
}

// --- k-means -----------------------------------------------------------------------------------

static double distance(const double *a, const double *b, Index d) {
  double sum = 0;
  for (Index c = 0; c < d; c++) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

extern "C" double kmeans(const double *centroids, const double *points, Index k, Index n, Index d) {
  double cost = 0;
  for (Index i = 0; i < n; i++) {
    double closest = INFINITY;
    for (Index j = 0; j < k; j++) {
      double here = distance(points + i * d, centroids + j * d, d);
      if (here < closest) closest = here;
    }
    cost += closest;
  }
  return cost;
}

// The gradient divided by the diagonal of the matrix of second derivatives: Newton's step.
extern "C" void kmeans_d(const double *centroids, const double *points, Index k, Index n, Index d,
                         double *direction) {
  std::vector<Index> counts(k);
  std::memset(direction, 0, k * d * sizeof(double));
  for (Index i = 0; i < n; i++) {
    double closest = INFINITY;
    Index which = 0;
    for (Index j = 0; j < k; j++) {
      double here = distance(points + i * d, centroids + j * d, d);
      if (here < closest) closest = here, which = j;
    }
    counts[which]++;
    for (Index c = 0; c < d; c++) direction[which * d + c] += points[i * d + c];
  }
  for (Index j = 0; j < k; j++)
    for (Index c = 0; c < d; c++)
      direction[j * d + c] = centroids[j * d + c] - direction[j * d + c] / counts[j];
}

// --- hand tracking -----------------------------------------------------------------------------

struct Matrix {
  double at[4][4];
};

static Matrix product(const Matrix &a, const Matrix &b) {
  Matrix c = {};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++)
      for (int j = 0; j < 4; j++) c.at[i][j] += a.at[i][k] * b.at[k][j];
  return c;
}

// The rotation by three angles, or its derivative by that about x (0) or about z (1).
static Matrix turn(double tx, double tz, double ty, int by = -1) {
  double cx = std::cos(tx), sx = std::sin(tx), cy = std::cos(ty), sy = std::sin(ty);
  double cz = std::cos(tz), sz = std::sin(tz);
  Matrix x = {{{1, 0, 0, 0}, {0, cx, -sx, 0}, {0, sx, cx, 0}, {0, 0, 0, 1}}};
  Matrix y = {{{cy, 0, sy, 0}, {0, 1, 0, 0}, {-sy, 0, cy, 0}, {0, 0, 0, 1}}};
  Matrix z = {{{cz, -sz, 0, 0}, {sz, cz, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  if (by == 0) x = {{{0, 0, 0, 0}, {0, -sx, -cx, 0}, {0, cx, -sx, 0}, {0, 0, 0, 0}}};
  if (by == 1) z = {{{-sz, -cz, 0, 0}, {cz, -sz, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}};
  return product(product(z, y), x);
}

static void about_axis(const double *rotation, double r[3][3]) {
  double norm = std::sqrt(rotation[0] * rotation[0] + rotation[1] * rotation[1] +
                          rotation[2] * rotation[2]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r[i][j] = i == j;
  if (norm < 0.0001) return;
  double x = rotation[0] / norm, y = rotation[1] / norm, z = rotation[2] / norm;
  double s = std::sin(norm), c = std::cos(norm);
  double found[3][3] = {
      {x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s},
      {x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s},
      {x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c}};
  std::memcpy(r, found, sizeof found);
}

static void about_axis_d(const double *rotation, double r[3][3], double dr[3][3][3]) {
  double norm = std::sqrt(rotation[0] * rotation[0] + rotation[1] * rotation[1] +
                          rotation[2] * rotation[2]);
  about_axis(rotation, r);
  std::memset(dr, 0, 27 * sizeof(double));
  if (norm < 0.0001) return;
  double u[3] = {rotation[0] / norm, rotation[1] / norm, rotation[2] / norm};
  double s = std::sin(norm), c = std::cos(norm);
  for (int p = 0; p < 3; p++) {
    double du[3], ds = c * u[p], dc = -s * u[p];
    for (int i = 0; i < 3; i++) du[i] = ((i == p) - u[i] * u[p]) / norm;
    double crossed[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    double moved[3][3] = {{0, -du[2], du[1]}, {du[2], 0, -du[0]}, {-du[1], du[0], 0}};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        dr[p][i][j] = (du[i] * u[j] + u[i] * du[j]) * (1 - c) - u[i] * u[j] * dc +
                      (i == j) * dc + moved[i][j] * s + crossed[i][j] * ds;
  }
}

struct Hand {
  Index bones, vertices, measured;
  const Index *parents;
  const Matrix *relatives, *inverses;
  const double *base, *weights;
  const Index *wanted;
  const double *points;
};

// The three angles of each bone.
static std::vector<double> posed(const double *theta, Index bones) {
  std::vector<double> angles(3 * bones);
  int at = 6, bone = 2;
  for (int finger = 0; finger < 5; finger++, bone++)
    for (int joint = 0; joint < 3; joint++, bone++) {
      angles[3 * bone] = theta[at++];
      if (joint == 0) angles[3 * bone + 1] = theta[at++];
    }
  return angles;
}

// Adds the weighted vertices that a bone moves: 3 x vertices.
static void skin(const Hand &hand, Index bone, const Matrix &t, double *__restrict positions) {
  Index n = hand.vertices;
  const double *__restrict w = hand.weights + bone * n, *__restrict b = hand.base;
  for (int i = 0; i < 3; i++)
    for (Index v = 0; v < n; v++)
      positions[i * n + v] += w[v] * (t.at[i][0] * b[v] + t.at[i][1] * b[n + v] +
                                      t.at[i][2] * b[2 * n + v] + t.at[i][3] * b[3 * n + v]);
}

static void vertices(const Hand &hand, const std::vector<double> &angles,
                     std::vector<Matrix> &absolutes, std::vector<double> &positions) {
  for (Index k = 0; k < hand.bones; k++) {
    const double *a = &angles[3 * k];
    Matrix relative = product(hand.relatives[k], turn(a[0], a[1], a[2]));
    absolutes[k] =
        hand.parents[k] < 0 ? relative : product(absolutes[hand.parents[k]], relative);
    skin(hand, k, product(absolutes[k], hand.inverses[k]), positions.data());
  }
}

extern "C" void hand(const double *theta, const Hand *all, double *errors) {
  const Hand &hand = *all;
  Index n = hand.vertices, m = hand.measured;
  std::vector<Matrix> absolutes(hand.bones);
  std::vector<double> positions(3 * n);
  vertices(hand, posed(theta, hand.bones), absolutes, positions);
  double r[3][3];
  about_axis(theta, r);
  for (Index p = 0; p < m; p++) {
    const double *at = &positions[hand.wanted[p]];
    for (int i = 0; i < 3; i++)
      errors[i * m + p] = hand.points[i * m + p] - (r[i][0] * at[0] + r[i][1] * at[n] +
                                                    r[i][2] * at[2 * n] + theta[3 + i]);
  }
}

// The Jacobian, 3 x measured x 26. An angle moves its bone and those below, and nothing else; if
// `dense`, all bones are moved nevertheless, those above by nothing.
static void jacobian_of(const double *theta, const Hand *all, double *jacobian, bool dense) {
  const Hand &hand = *all;
  Index n = hand.vertices, m = hand.measured;
  std::vector<Matrix> absolutes(hand.bones), moved(hand.bones);
  std::vector<double> positions(3 * n), moved_positions(3 * n);
  std::vector<double> angles = posed(theta, hand.bones);
  vertices(hand, angles, absolutes, positions);
  double r[3][3], dr[3][3][3];
  about_axis_d(theta, r, dr);
  for (Index p = 0; p < m; p++) {
    const double *at = &positions[hand.wanted[p]];
    for (int i = 0; i < 3; i++) {
      double *row = jacobian + (i * m + p) * 26;
      for (int q = 0; q < 3; q++) {
        row[q] = -(dr[q][i][0] * at[0] + dr[q][i][1] * at[n] + dr[q][i][2] * at[2 * n]);
        row[3 + q] = -(i == q);
      }
    }
  }
  int column = 6, bone = 2;
  for (int finger = 0; finger < 5; finger++, bone++)
    for (int joint = 0; joint < 3; joint++, bone++)
      for (int by = 0; by < (joint == 0 ? 2 : 1); by++, column++) {
        std::memset(moved_positions.data(), 0, 3 * n * sizeof(double));
        std::vector<char> moves(hand.bones);
        for (Index k = dense ? 0 : bone; k < hand.bones; k++) {
          const double *a = &angles[3 * k];
          Index parent = hand.parents[k];
          if (k == bone) {
            Matrix relative = product(hand.relatives[k], turn(a[0], a[1], a[2], by));
            moved[k] = parent < 0 ? relative : product(absolutes[parent], relative);
          } else if (parent >= 0 && moves[parent]) {
            Matrix relative = product(hand.relatives[k], turn(a[0], a[1], a[2]));
            moved[k] = product(moved[parent], relative);
          } else if (dense) {
            moved[k] = {};
            skin(hand, k, product(moved[k], hand.inverses[k]), moved_positions.data());
            continue;
          } else {
            continue;
          }
          moves[k] = 1;
          skin(hand, k, product(moved[k], hand.inverses[k]), moved_positions.data());
        }
        for (Index p = 0; p < m; p++) {
          const double *at = &moved_positions[hand.wanted[p]];
          for (int i = 0; i < 3; i++)
            jacobian[(i * m + p) * 26 + column] =
                -(r[i][0] * at[0] + r[i][1] * at[n] + r[i][2] * at[2 * n]);
        }
      }
}

extern "C" void hand_d(const double *theta, const Hand *all, double *jacobian) {
  jacobian_of(theta, all, jacobian, false);
}

extern "C" void hand_dense(const double *theta, const Hand *all, double *jacobian) {
  jacobian_of(theta, all, jacobian, true);
}
