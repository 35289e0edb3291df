// SPDX-License-Identifier: Apache-2.0
// Instructions of AMD's GPUs that the emulator lacks or gets wrong; translate.py names their operands.
#include "code.h"

#include <string.h>

#define VECTORS   256 // operands from here on are vector registers
#define CONSTANTS 128 // 0, 1, ...
#define NULL_SGPR 124

static uint64_t pair(const uint32_t *low, size_t apart)
{
    return low[0] | (uint64_t)low[apart] << 32;
}

void amd_own(const struct amd_code *code, const struct amd_step *step, uint32_t *sgpr, uint32_t *vgpr)
{
    const int32_t *of = step->of;
    const size_t lanes = (size_t)code->wave;
    const uint32_t m0 = lanes == 64 ? sgpr[code->m0] & 0xff : sgpr[code->m0]; // of gfx9: what s_set_gpr_idx_on gave it
    const uint64_t exec = pair(&sgpr[code->exec], 1);
    uint32_t got[64];
    if (step->kind == AMD_GETPC) { // s_getpc_b64: of the next instruction
        const uint64_t pc = pair(&sgpr[code->pc], 1) + step->size;
        sgpr[of[0]] = (uint32_t)pc;
        sgpr[of[0] + 1] = (uint32_t)(pc >> 32);
        return;
    }
    if (step->kind == AMD_INDEXON) { // s_set_gpr_idx_on: the index, and what it is for; translate.py knows until where
        const uint32_t index = of[0] < CONSTANTS ? sgpr[of[0]] : (uint32_t)(of[0] - CONSTANTS);
        sgpr[code->m0] = (sgpr[code->m0] & 0xffff0f00u) | (index & 0xff) | (uint32_t)of[1] << 12;
        return;
    }
    if (step->kind == AMD_BPERMUTE) // ds_bpermute_b32: a lane is its number modulo the wave; what is off gives 0
        for (size_t i = 0; i < lanes; i++) {
            const size_t lane =
                (vgpr[(size_t)(of[1] - VECTORS) * lanes + i] + (uint32_t)(of[3] | of[4] << 8)) / 4 % lanes;
            got[i] = exec >> lane & 1 ? vgpr[(size_t)(of[2] - VECTORS) * lanes + lane] : 0;
        }
    for (size_t i = 0; i < lanes; i++) {
        uint32_t *to = &vgpr[(size_t)(of[0] - VECTORS) * lanes + i];
        if (!(exec >> i & 1))
            continue;
        switch (step->kind) {
        case AMD_MOVRELD: // v_movreld_b32: the destination is moved on by M0
            to[m0 * lanes] = of[1] < VECTORS ? sgpr[of[1]] : vgpr[(size_t)(of[1] - VECTORS) * lanes + i];
            break;
        case AMD_MOVRELS: // v_movrels_b32: the source is
            *to = of[1] < VECTORS ? sgpr[(uint32_t)of[1] + m0] : vgpr[(size_t)(of[1] - VECTORS + (int)m0) * lanes + i];
            break;
        case AMD_BPERMUTE:
            *to = got[i];
            break;
        case AMD_CMPSWAP64: { // global_atomic_cmpswap_x2 and _b64: address, or an offset from scalar registers
            const uint32_t *address = &vgpr[(size_t)(of[1] - VECTORS) * lanes + i];
            const uint32_t *data = &vgpr[(size_t)(of[2] - VECTORS) * lanes + i];
            const uint64_t base = of[3] < NULL_SGPR ? pair(&sgpr[of[3]], 1) + *address : pair(address, lanes);
            const uint64_t value = pair(data, lanes), expected = pair(data + 2 * lanes, lanes);
            char *word = (char *)(uintptr_t)(base + (uint64_t)(int64_t)of[4]);
            uint64_t before;
            memcpy(&before, word, sizeof before);
            if (before == expected)
                memcpy(word, &value, sizeof value);
            if (of[5]) {
                to[0] = (uint32_t)before;
                to[lanes] = (uint32_t)(before >> 32);
            }
            break;
        }
        }
    }
}
