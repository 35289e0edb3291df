# SPDX-License-Identifier: Apache-2.0
"""How many work-groups of a kernel are on a compute unit at a time, from its registers and its local memory.

A compute unit is what shares local memory: on AMD a CU, or a pair of them (WGP) from gfx10 on; on NVIDIA a
multiprocessor. Resident groups are the least of what registers, local memory, waves and the count of groups admit.

AMD: LLVM 19, llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp (getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU,
  getLocalMemorySize, getMaxWorkGroupsPerCU) and GCNSubtarget.cpp (getOccupancyWithNumSGPRs). From gfx90a on accumulation
  registers follow the vector registers, rounded up to 4, in one file.
NVIDIA: CUDA C++ Programming Guide, technical specifications per compute capability; allocation units as in the occupancy
  calculator of Nsight Compute: a warp gets registers in pieces of 256, warps by fours (the four schedulers share the
  file equally), local memory in pieces of 256 (sm_75) or 128 bytes, of which the system takes 1024 for each group from
  sm_80 on. The largest carve-out for local memory is assumed.
"""

# target: (SIMDs, waves of a SIMD, vector registers of a lane and SIMD, their granule, scalar registers of a SIMD or 0,
#          bytes of local memory, groups of more than one wave)
AMD = {
    "gfx906": (4, 10, 256, 4, 800, 65536, 16),
    "gfx908": (4, 10, 256, 4, 800, 65536, 16),
    "gfx90a": (4, 8, 512, 8, 800, 65536, 16),
    "gfx942": (4, 8, 512, 8, 800, 65536, 16),
    "gfx1030": (4, 16, 1024, 16, 0, 131072, 32),
    "gfx1100": (4, 16, 1536, 24, 0, 131072, 32),
    "gfx1151": (4, 16, 1536, 24, 0, 131072, 32),
    "gfx1200": (4, 16, 1536, 24, 0, 131072, 32),
    "gfx1201": (4, 16, 1536, 24, 0, 131072, 32),
}
# target: (warps, registers, bytes of local memory, their granule, of them for the system, groups)
NVIDIA = {
    "sm_75": (32, 65536, 65536, 256, 0, 16),
    "sm_80": (64, 65536, 167936, 128, 1024, 32),
    "sm_90": (64, 65536, 233472, 128, 1024, 32),
}


def up(number, granule):
    return -(-number // granule) * granule


def of(row):
    """Adds to a row of isa.py, which has wg: groups, waves, waves_max of a compute unit, and limit: what ends first."""
    group = -(-row["wg"] // row["wave"])
    if row["target"] in AMD:
        simds, most, vectors, granule, scalars, local, groups = AMD[row["target"]]
        used = up(row["vgpr"], 4) + row["agpr"] if row["agpr"] else row["vgpr"]
        if row["target"] == "gfx908":  # accumulation registers have a file of their own
            used = max(row["vgpr"], row["agpr"] or 0)
        by_registers = min(vectors // up(max(used, 1), granule), scalars // max(row["sgpr"], 1) if scalars else most)
        waves_max, taken = simds * most, row["lds_bytes"]
        limits = {"registers": min(by_registers, most) * simds // group, "groups": groups if group > 1 else waves_max}
    else:
        waves_max, registers, local, granule, system, groups = NVIDIA[row["target"]]
        taken = up(row["lds_bytes"] + system, granule)
        limits = {"registers": registers // up(row["vgpr"] * 32, 256) // 4 * 4 // group, "groups": groups}
    limits["waves"] = waves_max // group
    limits["local"] = local // taken if taken else waves_max
    limit = min(("waves", "groups", "registers", "local"), key=limits.get)
    row.update(groups=limits[limit], waves=limits[limit] * group, waves_max=waves_max, limit=limit)
