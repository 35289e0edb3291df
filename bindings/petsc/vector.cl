// SPDX-License-Identifier: Apache-2.0
// Operations on dense vectors that Krylov methods need, and the packing of halos.
//
// Defines: T, the type of elements; WG, work-items of a group of `reduce`, a power of two.
// Every kernel but `reduce` has one work-item per element, and items past the end do nothing.
// Contraction is off, and `reduce` sums in an order that depends on n alone: the same bits on every device.
#pragma OPENCL FP_CONTRACT OFF

#define EACH                                                                                                           \
    size_t i = get_global_id(0);                                                                                       \
    if (i >= n)                                                                                                        \
        return;

kernel void set(ulong n, global T *restrict y, T a)
{
    EACH y[i] = a;
}

// y = a*y; also where a is 0 and y is not finite.
kernel void scale(ulong n, global T *restrict y, T a)
{
    EACH y[i] = a == 0 ? 0 : a * y[i];
}

kernel void shift(ulong n, global T *restrict y, T a)
{
    EACH y[i] += a;
}

// y = a*x + b*y; where b is 0, y is not read.
kernel void axpby(ulong n, global T *restrict y, T a, global const T *restrict x, T b)
{
    EACH y[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
}

kernel void axpbypcz(ulong n, global T *restrict z, T a, T b, T c, global const T *x, global const T *y)
{
    EACH T s = a * x[i] + b * y[i];
    z[i] = c == 0 ? s : s + c * z[i];
}

kernel void waxpy(ulong n, global T *restrict w, T a, global const T *restrict x, global const T *restrict y)
{
    EACH w[i] = a * x[i] + y[i];
}

// y += a*x + b*x1 + c*x2 + d*x3 with the first k of the terms, 1 to 4.
kernel void maxpy(ulong n, global T *restrict y, uint k, T a, T b, T c, T d, global const T *x, global const T *x1,
                  global const T *x2, global const T *x3)
{
    EACH T s = y[i] + a * x[i];
    s = k > 1 ? s + b * x1[i] : s;
    s = k > 2 ? s + c * x2[i] : s;
    y[i] = k > 3 ? s + d * x3[i] : s;
}

kernel void swap(ulong n, global T *restrict x, global T *restrict y)
{
    EACH T t = x[i];
    x[i] = y[i];
    y[i] = t;
}

// w may be x or y.
kernel void multiply(ulong n, global T *w, global const T *x, global const T *y)
{
    EACH w[i] = x[i] * y[i];
}

// A division by zero gives zero, as PETSc has it. w may be x or y.
kernel void divide(ulong n, global T *w, global const T *x, global const T *y)
{
    EACH w[i] = y[i] != 0 ? x[i] / y[i] : 0;
}

kernel void reciprocal(ulong n, global T *restrict y)
{
    EACH y[i] = y[i] != 0 ? 1 / y[i] : 0;
}

// out[i] = x[index[i]]: the halo that neighbours wait for.
kernel void gather(ulong n, global T *restrict out, global const int *restrict index, global const T *restrict x)
{
    EACH out[i] = x[index[i]];
}

// y[index[first + i]] += in[first + i]: what one neighbour sends. No index stands twice among the n.
kernel void scatter_add(ulong n, global T *restrict y, global const int *restrict index, global const T *restrict in,
                        ulong first)
{
    EACH y[index[first + i]] += in[first + i];
}

// out[first + group] = the reduction of every tile of WG*16 elements that group g, g + groups, ... has.
// op: 0 sum of x*y, 1 sum of x, 2 sum of |x|, 3 most of |x|, 4 most of x, 5 most of -x. n is not 0.
kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void reduce(ulong n, global T *restrict out, ulong first,
                                                                   uint op, global const T *x, global const T *y)
{
    local T part[WG];
    uint l = (uint)get_local_id(0);
    T s = op < 3 ? 0 : -INFINITY;
    for (ulong tile = get_group_id(0) * (ulong)(WG * 16); tile < n; tile += get_num_groups(0) * (ulong)(WG * 16)) {
        for (uint k = 0; k < 16; k++) {
            ulong i = tile + k * WG + l;
            if (i < n) {
                T v = x[i];
                v = op == 0 ? v * y[i] : op == 2 || op == 3 ? fabs(v) : op == 5 ? -v : v;
                s = op < 3 ? s + v : v > s || isnan(v) ? v : s;
            }
        }
    }
    part[l] = s;
    for (uint step = WG / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) {
            T v = part[l + step];
            part[l] = op < 3 ? part[l] + v : v > part[l] || isnan(v) ? v : part[l];
        }
    }
    if (l == 0)
        out[first + get_group_id(0)] = part[0];
}
