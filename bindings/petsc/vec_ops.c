// SPDX-License-Identifier: Apache-2.0
// The operations on vectors that run on the device; with an operand of another type PETSc's own run on the host.
#include "bindings/petsc/vec.h"

// Is every one of these on the device's side?
static PetscErrorCode ours(PetscInt n, const Vec *v, int *out)
{
    struct wp_vec *w;
    *out = 1;
    for (PetscInt i = 0; i < n && *out; i++) {
        PetscCall(wp_vec_of(v[i], &w));
        *out = w != NULL;
    }
    return 0;
}

// Leave to PETSc where an operand is of another type.
#define OURS_OR(call, ...)                                                                                             \
    do {                                                                                                               \
        Vec list_[] = {__VA_ARGS__};                                                                                   \
        int ours_;                                                                                                     \
        PetscCall(ours((PetscInt)(sizeof list_ / sizeof *list_), list_, &ours_));                                      \
        if (!ours_)                                                                                                    \
            return wp_vec_parent(list_[0])->call;                                                                      \
    } while (0)

static size_t length(Vec v)
{
    return (size_t)v->map->n;
}

static PetscErrorCode set(Vec y, PetscScalar a)
{
    cl_mem py;
    PetscCall(wp_vec_write(y, &py));
    return wp_launch(WP_KERNEL_set, length(y), py, (double)a);
}

static PetscErrorCode scale(Vec y, PetscScalar a)
{
    cl_mem py;
    if (a == 1)
        return 0;
    PetscCall(wp_vec_change(y, &py));
    return wp_launch(WP_KERNEL_scale, length(y), py, (double)a);
}

static PetscErrorCode shift(Vec y, PetscScalar a)
{
    cl_mem py;
    PetscCall(wp_vec_change(y, &py));
    return wp_launch(WP_KERNEL_shift, length(y), py, (double)a);
}

static PetscErrorCode copy(Vec x, Vec y)
{
    const struct wp_device *d;
    cl_mem px, py;
    OURS_OR(copy(x, y), x, y);
    if (x == y || length(x) == 0)
        return 0;
    PetscCall(wp_vec_read(x, &px));
    PetscCall(wp_vec_write(y, &py));
    PetscCall(wp_device_get(&d));
    WP_CL(clEnqueueCopyBuffer(d->queue, px, py, 0, 0, length(x) * sizeof(PetscScalar), 0, NULL, NULL));
    return 0;
}

static PetscErrorCode swap(Vec x, Vec y)
{
    cl_mem px, py;
    OURS_OR(swap(x, y), x, y);
    if (x == y)
        return 0;
    PetscCall(wp_vec_change(x, &px));
    PetscCall(wp_vec_change(y, &py));
    return wp_launch(WP_KERNEL_swap, length(x), px, py);
}

// y = a*x + b*y with x and y apart.
static PetscErrorCode combine(Vec y, PetscScalar a, PetscScalar b, Vec x)
{
    cl_mem px, py;
    PetscCall(wp_vec_read(x, &px));
    PetscCall(b == 0 ? wp_vec_write(y, &py) : wp_vec_change(y, &py));
    return wp_launch(WP_KERNEL_axpby, length(y), py, (double)a, px, (double)b);
}

static PetscErrorCode axpy(Vec y, PetscScalar a, Vec x)
{
    OURS_OR(axpy(y, a, x), y, x);
    return x == y ? scale(y, 1 + a) : a == 0 ? 0 : combine(y, a, 1, x);
}

static PetscErrorCode aypx(Vec y, PetscScalar b, Vec x)
{
    OURS_OR(aypx(y, b, x), y, x);
    return x == y ? scale(y, 1 + b) : combine(y, 1, b, x);
}

static PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x)
{
    OURS_OR(axpby(y, a, b, x), y, x);
    return x == y ? scale(y, a + b) : combine(y, a, b, x);
}

static PetscErrorCode axpbypcz(Vec z, PetscScalar a, PetscScalar b, PetscScalar c, Vec x, Vec y)
{
    cl_mem px, py, pz;
    OURS_OR(axpbypcz(z, a, b, c, x, y), z, x, y);
    PetscCall(wp_vec_read(x, &px));
    PetscCall(wp_vec_read(y, &py));
    PetscCall(c == 0 && z != x && z != y ? wp_vec_write(z, &pz) : wp_vec_change(z, &pz));
    return wp_launch(WP_KERNEL_axpbypcz, length(z), pz, (double)a, (double)b, (double)c, px, py);
}

static PetscErrorCode waxpy(Vec w, PetscScalar a, Vec x, Vec y)
{
    cl_mem px, py, pw;
    OURS_OR(waxpy(w, a, x, y), w, x, y);
    PetscCall(wp_vec_read(x, &px));
    PetscCall(wp_vec_read(y, &py));
    PetscCall(wp_vec_write(w, &pw));
    return wp_launch(WP_KERNEL_waxpy, length(w), pw, (double)a, px, py);
}

static PetscErrorCode maxpy(Vec y, PetscInt n, const PetscScalar *a, Vec *x)
{
    cl_mem py, p[4];
    int all;
    OURS_OR(maxpy(y, n, a, x), y);
    PetscCall(ours(n, x, &all));
    if (!all)
        return wp_vec_parent(y)->maxpy(y, n, a, x);
    PetscCall(wp_vec_change(y, &py));
    for (PetscInt i = 0; i < n; i += 4) {
        PetscInt k = PetscMin(4, n - i);
        double f[4] = {0};
        for (PetscInt j = 0; j < 4; j++) { // what is past the last is given and not read
            PetscCall(wp_vec_read(x[i + (j < k ? j : 0)], &p[j]));
            f[j] = j < k ? (double)a[i + j] : 0;
        }
        PetscCall(
            wp_launch(WP_KERNEL_maxpy, length(y), py, (cl_uint)k, f[0], f[1], f[2], f[3], p[0], p[1], p[2], p[3]));
    }
    return 0;
}

static PetscErrorCode pointwise(enum wp_kernel kernel, Vec w, Vec x, Vec y)
{
    cl_mem px, py, pw;
    PetscCall(wp_vec_read(x, &px));
    PetscCall(wp_vec_read(y, &py));
    PetscCall(wp_vec_write(w, &pw));
    return wp_launch(kernel, length(w), pw, px, py);
}

static PetscErrorCode pointwise_mult(Vec w, Vec x, Vec y)
{
    OURS_OR(pointwisemult(w, x, y), w, x, y);
    return pointwise(WP_KERNEL_multiply, w, x, y);
}

static PetscErrorCode pointwise_divide(Vec w, Vec x, Vec y)
{
    OURS_OR(pointwisedivide(w, x, y), w, x, y);
    return pointwise(WP_KERNEL_divide, w, x, y);
}

static PetscErrorCode reciprocal(Vec y)
{
    cl_mem py;
    PetscCall(wp_vec_change(y, &py));
    return wp_launch(WP_KERNEL_reciprocal, length(y), py);
}

// What `reduce` computes.
enum reduction { SUM_XY, SUM_X, SUM_ABS, MOST_ABS, MOST, MOST_NEGATED };

// out[k] = the reduction of x and y[k] on this rank, in an order that depends on the length alone. One read for all.
static PetscErrorCode reduce(enum reduction op, Vec x, PetscInt count, const Vec *y, PetscScalar *out)
{
    size_t n = length(x), tile = (size_t)WP_REDUCE_WG * 16;
    size_t groups = PetscMin((n + tile - 1) / tile, (size_t)WP_REDUCE_GROUPS);
    cl_mem px, py, part;
    PetscScalar *host;
    for (PetscInt k = 0; k < count; k++)
        out[k] = op < MOST_ABS ? 0 : PETSC_NINFINITY;
    if (n == 0)
        return 0;
    PetscCall(wp_parts((size_t)count * groups, &part, &host));
    PetscCall(wp_vec_read(x, &px));
    for (PetscInt k = 0; k < count; k++) {
        PetscCall(wp_vec_read(y[k], &py));
        PetscCall(wp_launch(WP_KERNEL_reduce, n, part, (cl_ulong)((size_t)k * groups), (cl_uint)op, px, py));
    }
    PetscCall(wp_read(host, part, (size_t)count * groups * sizeof(PetscScalar)));
    for (PetscInt k = 0; k < count; k++) {
        for (const PetscScalar *p = host + (size_t)k * groups; p < host + ((size_t)k + 1) * groups; p++)
            out[k] = op < MOST_ABS ? out[k] + *p : *p > out[k] || PetscIsNanScalar(*p) ? *p : out[k];
    }
    return 0;
}

// Over all ranks.
static PetscErrorCode everywhere(Vec v, PetscInt n, PetscScalar *values, MPI_Op op)
{
    PetscMPIInt count;
    PetscCall(PetscMPIIntCast(n, &count));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, count, MPIU_SCALAR, op, PetscObjectComm((PetscObject)v)));
    return 0;
}

static PetscErrorCode mdot_local(Vec x, PetscInt n, const Vec *y, PetscScalar *out)
{
    int all;
    OURS_OR(mdot_local(x, n, y, out), x);
    PetscCall(ours(n, y, &all));
    return all ? reduce(SUM_XY, x, n, y, out) : wp_vec_parent(x)->mdot_local(x, n, y, out);
}

static PetscErrorCode mdot(Vec x, PetscInt n, const Vec *y, PetscScalar *out)
{
    PetscCall(mdot_local(x, n, y, out));
    return everywhere(x, n, out, MPIU_SUM);
}

static PetscErrorCode dot_local(Vec x, Vec y, PetscScalar *out)
{
    OURS_OR(dot_local(x, y, out), x, y);
    return reduce(SUM_XY, x, 1, &y, out);
}

static PetscErrorCode dot(Vec x, Vec y, PetscScalar *out)
{
    PetscCall(dot_local(x, y, out));
    return everywhere(x, 1, out, MPIU_SUM);
}

static PetscErrorCode dot_norm2(Vec s, Vec t, PetscScalar *st, PetscScalar *tt)
{
    PetscScalar both[2];
    Vec list[] = {s, t};
    PetscCall(mdot(t, 2, list, both));
    *st = both[0];
    *tt = both[1];
    return 0;
}

static PetscErrorCode sum(Vec x, PetscScalar *out) // of this rank: VecSum adds the ranks
{
    return reduce(SUM_X, x, 1, &x, out);
}

static PetscErrorCode norm_local(Vec x, NormType type, PetscReal *out)
{
    PetscScalar value;
    if (type == NORM_1 || type == NORM_1_AND_2) {
        PetscCall(reduce(SUM_ABS, x, 1, &x, &value));
        out[0] = PetscRealPart(value);
    } else if (type == NORM_INFINITY) {
        PetscCall(reduce(MOST_ABS, x, 1, &x, &value));
        out[0] = value == PETSC_NINFINITY ? 0 : PetscRealPart(value);
    }
    if (type != NORM_1 && type != NORM_INFINITY) {
        PetscCall(reduce(SUM_XY, x, 1, &x, &value));
        out[type == NORM_1_AND_2] = PetscSqrtReal(PetscRealPart(value));
    }
    return 0;
}

static PetscErrorCode norm(Vec x, NormType type, PetscReal *out)
{
    PetscInt n = type == NORM_1_AND_2 ? 2 : 1, two = type == NORM_1_AND_2                      ? 1
                                                     : type != NORM_1 && type != NORM_INFINITY ? 0
                                                                                               : -1;
    PetscCall(norm_local(x, type, out));
    if (two >= 0)
        out[two] *= out[two];
    PetscCall(everywhere(x, n, out, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM));
    if (two >= 0)
        out[two] = PetscSqrtReal(out[two]);
    return 0;
}

// Where the place is asked for too, PETSc's own looks for it on the host.
static PetscErrorCode max(Vec x, PetscInt *place, PetscReal *out)
{
    if (place)
        return wp_vec_parent(x)->max(x, place, out);
    PetscCall(reduce(MOST, x, 1, &x, out));
    if (*out == PETSC_NINFINITY)
        *out = PETSC_MIN_REAL;
    return everywhere(x, 1, out, MPIU_MAX);
}

static PetscErrorCode min(Vec x, PetscInt *place, PetscReal *out)
{
    if (place)
        return wp_vec_parent(x)->min(x, place, out);
    PetscCall(reduce(MOST_NEGATED, x, 1, &x, out));
    *out = *out == PETSC_NINFINITY ? PETSC_MAX_REAL : -*out;
    return everywhere(x, 1, out, MPIU_MIN);
}

PetscErrorCode wp_vec_ops(Vec v)
{
    v->ops->set = set;
    v->ops->scale = scale;
    v->ops->shift = shift;
    v->ops->copy = copy;
    v->ops->swap = swap;
    v->ops->axpy = axpy;
    v->ops->aypx = aypx;
    v->ops->axpby = axpby;
    v->ops->axpbypcz = axpbypcz;
    v->ops->waxpy = waxpy;
    v->ops->maxpy = maxpy;
    v->ops->pointwisemult = pointwise_mult;
    v->ops->pointwisedivide = pointwise_divide;
    v->ops->reciprocal = reciprocal;
    v->ops->dot = v->ops->tdot = dot;
    v->ops->dot_local = v->ops->tdot_local = dot_local;
    v->ops->mdot = v->ops->mtdot = mdot;
    v->ops->mdot_local = v->ops->mtdot_local = mdot_local;
    v->ops->dotnorm2 = dot_norm2;
    v->ops->norm = norm;
    v->ops->norm_local = norm_local;
    v->ops->sum = sum;
    v->ops->max = max;
    v->ops->min = min;
    return 0;
}
