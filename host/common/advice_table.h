// SPDX-License-Identifier: Apache-2.0
// Rows of advice.c, as bench/lab/advice_fit.py prints them.
// clang-format off
{CL_DEVICE_TYPE_CPU,
 {0.8392, 15.5, 0.000775, 1.338, 3.081, 40.8},
 1048576,
 0.156,
 {0, 27.88, 30.72, 52.67, 48.98, 22.9, 74.3},
 -0.305,
 0.62,
 "pthread-skylake-avx512-Intel(R) Xeon(R) Processor, driver 3.1+debian, 2026-11-21, 99 matrices"},
{CL_DEVICE_TYPE_GPU,
 {32.1, 8.059, 0, 4.02, 4.192, 2797},
 2097152,
 0.0537,
 {0, 60.93, 89.74, 128.3, 93.57, 61.67, 281},
 0.366,
 0.432,
 "NVIDIA H200, driver 580.159.04, 2026-11-21, 97 matrices"},
