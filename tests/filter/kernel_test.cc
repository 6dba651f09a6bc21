// SPDX-License-Identifier: Apache-2.0
//
// Tests which kernels are available. Each family's tests check their answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "filter/family.h"
#include "rowbloom/filter.h"
#include "testing/filters.h"

namespace rowbloom {
namespace {

constexpr Kernel kAll[] = {Kernel::kBest, Kernel::kPortable, Kernel::kSse42,
                           Kernel::kAvx2, Kernel::kNeon,     Kernel::kAvx512};

TEST(Kernel, BestIsTheFirstAvailableAndPortableTheLast) {
  const std::vector<Kernel> kernels = AvailableKernels();
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(filter::ConcreteKernel(Kernel::kBest), kernels.front());
  EXPECT_EQ(kernels.back(), Kernel::kPortable);
}

TEST(Kernel, AllButBestAreListedIfAvailable) {
  const std::vector<Kernel> kernels = AvailableKernels();
  EXPECT_TRUE(KernelAvailable(Kernel::kBest));
  for (const Kernel kernel : kAll) {
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), kernel),
              kernel != Kernel::kBest && KernelAvailable(kernel));
  }
}

TEST(Kernel, ThisMachineHasThoseOfItsArchitecture) {
#if defined(__x86_64__)
  EXPECT_FALSE(KernelAvailable(Kernel::kNeon));
#elif defined(__AARCH64EL__)
  EXPECT_EQ(AvailableKernels(),
            std::vector<Kernel>({Kernel::kNeon, Kernel::kPortable}));
#else
  EXPECT_EQ(AvailableKernels(), std::vector<Kernel>({Kernel::kPortable}));
#endif
}

TEST(Kernel, AKernelThatIsNotAvailableIsRefused) {
  const EncodedFilter filter = testing::BuildFilter(FilterSpec(), {{1}});
  for (const Kernel kernel : kAll) {
    EXPECT_EQ(FilterView::Parse(filter.descriptor, filter.UnitViews(), kernel)
                  .status()
                  .code(),
              KernelAvailable(kernel) ? absl::StatusCode::kOk
                                      : absl::StatusCode::kInvalidArgument)
        << KernelName(kernel);
  }
}

TEST(KernelDeathTest, BuildingWithOneThatIsNotAvailableIsChecked) {
  for (const Kernel kernel : kAll) {
    if (KernelAvailable(kernel)) continue;
    EXPECT_DEATH(NewFilterBuilder(FilterSpec(), kernel), "KernelAvailable")
        << KernelName(kernel);
  }
}

TEST(Kernel, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Kernel kernel : kAll) names.insert(KernelName(kernel));
  EXPECT_EQ(names.size(), std::size(kAll));
}

}  // namespace
}  // namespace rowbloom
