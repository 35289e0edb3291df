// SPDX-License-Identifier: Apache-2.0
// Rows of advice.c, as bench/advice_fit.py prints them.
{CL_DEVICE_TYPE_CPU,
 {0.8392, 15.5, 0.000775, 1.338, 3.081, 40.8},
 1048576,
 0.156,
 {0, 27.88, 30.72, 52.67, 48.98, 22.9, 74.3},
 -0.305,
 0.62,
 "pthread-skylake-avx512-Intel(R) Xeon(R) Processor, driver 3.1+debian, 2026-11-21, 99 matrices"},
