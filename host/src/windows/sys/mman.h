// SPDX-License-Identifier: Apache-2.0
// Windows has no such header. Nothing of it is needed where MADV_HUGEPAGE is not defined.
#pragma once
