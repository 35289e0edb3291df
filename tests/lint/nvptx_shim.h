// SPDX-License-Identifier: Apache-2.0
// 64-bit atomics of OpenCL 1.2 that libclc lacks for NVIDIA. NVIDIA's own compiler has them: for the offline check only.
#define SHIM(type, name, builtin)                                                                                      \
    static inline type __attribute__((overloadable, unused)) name(volatile __global type *p, type v)                   \
    {                                                                                                                  \
        return builtin(p, v);                                                                                          \
    }                                                                                                                  \
    static inline type __attribute__((overloadable, unused)) name(volatile __local type *p, type v)                    \
    {                                                                                                                  \
        return builtin(p, v);                                                                                          \
    }
SHIM(ulong, atom_add, __sync_fetch_and_add)
SHIM(long, atom_add, __sync_fetch_and_add)
SHIM(ulong, atom_or, __sync_fetch_and_or)
SHIM(long, atom_or, __sync_fetch_and_or)
SHIM(ulong, atom_and, __sync_fetch_and_and)
SHIM(long, atom_and, __sync_fetch_and_and)
SHIM(ulong, atom_xchg, __sync_lock_test_and_set)
SHIM(long, atom_xchg, __sync_lock_test_and_set)
#undef SHIM
#define SHIM(type, space)                                                                                              \
    static inline type __attribute__((overloadable, unused)) atom_cmpxchg(volatile space type *p, type old, type v)    \
    {                                                                                                                  \
        return __sync_val_compare_and_swap(p, old, v);                                                                 \
    }
SHIM(ulong, __global)
SHIM(ulong, __local)
SHIM(long, __global)
SHIM(long, __local)
#undef SHIM
