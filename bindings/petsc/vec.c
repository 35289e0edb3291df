// SPDX-License-Identifier: Apache-2.0
// The life of a vector with a copy on the device, and the arrays that PETSc asks it for.
#include "bindings/petsc/vec.h"

static struct _VecOps parents[2]; // of VECSEQ and VECMPI, as the type's creation sets them

static int parallel(Vec v)
{
    PetscMPIInt size = 1;
    (void)MPI_Comm_size(PetscObjectComm((PetscObject)v), &size);
    return size > 1;
}

const struct _VecOps *wp_vec_parent(Vec v)
{
    return &parents[parallel(v)];
}

PetscErrorCode wp_vec_of(Vec v, struct wp_vec **out)
{
    PetscContainer container = NULL;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)v, "weft", (PetscObject *)&container));
    if (container)
        PetscCall(PetscContainerGetPointer(container, (void **)out));
    return 0;
}

static size_t bytes_of(Vec v)
{
    return (size_t)v->map->n * sizeof(PetscScalar);
}

// The host's array, whatever it holds.
static PetscScalar *array_of(Vec v)
{
    return *(PetscScalar **)v->data;
}

static PetscErrorCode to_host(Vec v, struct wp_vec *w)
{
    if (w->valid & WP_HOST)
        return 0;
    PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_VEC_GET], v, 0, 0, 0));
    PetscCall(wp_read(array_of(v), w->mem, bytes_of(v)));
    PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_VEC_GET], v, 0, 0, 0));
    w->valid |= WP_HOST;
    return 0;
}

// The buffer, after `keep` with the values, before it is valid as `valid` says.
static PetscErrorCode on_device(Vec v, int keep, int valid, cl_mem *out)
{
    struct wp_vec *w;
    PetscCall(wp_vec_of(v, &w));
    if (!w->mem)
        PetscCall(wp_buffer(&w->mem, bytes_of(v)));
    if (keep && !(w->valid & WP_DEVICE)) {
        PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_VEC_PUT], v, 0, 0, 0));
        PetscCall(wp_write(w->mem, array_of(v), bytes_of(v)));
        PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_VEC_PUT], v, 0, 0, 0));
        w->valid |= WP_DEVICE;
    }
    w->valid = valid ? valid : w->valid;
    *out = w->mem;
    return 0;
}

PetscErrorCode wp_vec_read(Vec v, cl_mem *out)
{
    return on_device(v, 1, 0, out);
}

PetscErrorCode wp_vec_write(Vec v, cl_mem *out)
{
    return on_device(v, 0, WP_DEVICE, out);
}

PetscErrorCode wp_vec_change(Vec v, cl_mem *out)
{
    return on_device(v, 1, WP_DEVICE, out);
}

// The host's array for reading, writing or both, by what is copied before and what is valid after.
static PetscErrorCode on_host(Vec v, int keep, int valid, PetscScalar **out)
{
    struct wp_vec *w;
    PetscCall(wp_vec_of(v, &w));
    if (keep)
        PetscCall(to_host(v, w));
    w->valid = valid ? valid : w->valid;
    *out = array_of(v);
    return 0;
}

static PetscErrorCode get_array(Vec v, PetscScalar **out)
{
    return on_host(v, 1, WP_HOST, out);
}

static PetscErrorCode get_array_read(Vec v, const PetscScalar **out)
{
    return on_host(v, 1, 0, (PetscScalar **)out);
}

static PetscErrorCode get_array_write(Vec v, PetscScalar **out)
{
    return on_host(v, 0, WP_HOST, out);
}

// An array that is exchanged: the old one is to hold the vector's values, the new one is valid.
static PetscErrorCode exchange(Vec v)
{
    PetscScalar *array;
    return on_host(v, 1, WP_HOST, &array);
}

static PetscErrorCode place_array(Vec v, const PetscScalar *array)
{
    PetscCall(exchange(v));
    return wp_vec_parent(v)->placearray(v, array);
}

static PetscErrorCode replace_array(Vec v, const PetscScalar *array)
{
    PetscCall(exchange(v));
    return wp_vec_parent(v)->replacearray(v, array);
}

static PetscErrorCode reset_array(Vec v)
{
    PetscCall(exchange(v));
    return wp_vec_parent(v)->resetarray(v);
}

static PetscErrorCode destroy(Vec v)
{
    PetscErrorCode (*parent)(Vec) = wp_vec_parent(v)->destroy;
    struct wp_vec *w;
    PetscCall(wp_vec_of(v, &w));
    PetscCall(wp_buffer_free(&w->mem));
    PetscCall(PetscObjectCompose((PetscObject)v, "weft", NULL));
    return parent(v);
}

// A vector of the same layout and type. What the program has attached to the old one is attached to the new one too, but
// for the device's half.
static PetscErrorCode duplicate(Vec v, Vec *out)
{
    PetscObject mine, from = (PetscObject)v, to;
    PetscCall(VecCreate(PetscObjectComm(from), out));
    to = (PetscObject)*out;
    PetscCall(PetscLayoutReference(v->map, &(*out)->map));
    PetscCall(VecSetType(*out, from->type_name));
    PetscCall(PetscObjectQuery(to, "weft", &mine));
    PetscCall(PetscObjectReference(mine));
    PetscCall(PetscObjectListDestroy(&to->olist));
    PetscCall(PetscObjectListDuplicate(from->olist, &to->olist));
    PetscCall(PetscObjectCompose(to, "weft", mine));
    PetscCall(PetscObjectDereference(mine));
    PetscCall(PetscFunctionListDuplicate(from->qlist, &to->qlist));
    (*out)->ops->view = v->ops->view;
    (*out)->stash.donotstash = v->stash.donotstash;
    (*out)->stash.ignorenegidx = v->stash.ignorenegidx;
    return 0;
}

// Each with a device's half of its own: since 3.20 PETSc's own makes several vectors of one array, with one half for all.
static PetscErrorCode duplicate_vecs(Vec v, PetscInt n, Vec **out)
{
    PetscCall(PetscMalloc1((size_t)n, out));
    for (PetscInt i = 0; i < n; i++)
        PetscCall(duplicate(v, &(*out)[i]));
    return 0;
}

static PetscErrorCode free_half(void *half)
{
#if PETSC_VERSION_GE(3, 23, 0)
    half = *(void **)half;
#endif
    PetscCall(PetscFree(half));
    return 0;
}
#if PETSC_VERSION_LT(3, 23, 0)
#define PetscContainerSetCtxDestroy PetscContainerSetUserDestroy
#endif

static PetscErrorCode create(Vec v)
{
    static const char *const types[] = {"seqweft", "mpiweft"};
    int which = parallel(v);
    PetscContainer container;
    struct wp_vec *w;
    // PETSc has freed what the vector was before, but still has its name: it would take the parent's type for given.
    PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL));
    v->ops->destroy = NULL;
    PetscCall(VecSetType(v, which ? VECMPI : VECSEQ));
    parents[which] = *v->ops;
    PetscCall(PetscNew(&w));
    w->valid = WP_HOST;
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, w));
    PetscCall(PetscContainerSetCtxDestroy(container, free_half));
    PetscCall(PetscObjectCompose((PetscObject)v, "weft", (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    PetscCall(PetscObjectChangeTypeName((PetscObject)v, types[which]));
    v->ops->duplicate = duplicate;
    v->ops->duplicatevecs = duplicate_vecs;
    v->ops->destroy = destroy;
    v->ops->getarray = get_array;
    v->ops->getarrayread = get_array_read;
    v->ops->getarraywrite = get_array_write;
    v->ops->placearray = place_array;
    v->ops->replacearray = replace_array;
    v->ops->resetarray = reset_array;
    return wp_vec_ops(v);
}

static PetscErrorCode create_seq(Vec v)
{
    PetscCheck(!parallel(v), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONG,
               "vectors of type seqweft have one rank: -vec_type weft takes the type that fits");
    return create(v);
}

static PetscErrorCode create_mpi(Vec v)
{
    PetscCheck(parallel(v), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONG,
               "vectors of type mpiweft have two ranks or more: -vec_type weft takes the type that fits");
    return create(v);
}

PetscErrorCode wp_vec_register(void)
{
    PetscCall(VecRegister("weft", create));
    PetscCall(VecRegister("seqweft", create_seq));
    return VecRegister("mpiweft", create_mpi);
}
