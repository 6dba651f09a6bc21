# SPDX-License-Identifier: Apache-2.0
# The variables that RocksDB's Makefile reads; README.md, "Inside RocksDB".
#
# RocksDB's CMake reads the line of the function in this file too, and would
# read the sources if they followed a plain "=".

rowbloom_FUNC = rowbloom_register
rowbloom_PKGCONFIG_REQUIRES := rowbloom absl_strings
rowbloom_CXXFLAGS := -Iplugin/rowbloom/include
rowbloom_NATIVE := native_policy.cc row_filter_builder.cc row_filter_reader.cc
ifeq ($(ROWBLOOM_ROCKSDB_NATIVE),OFF)
rowbloom_LEFT_OUT := $(rowbloom_NATIVE)
else
rowbloom_LEFT_OUT := native_policy_absent.cc
endif
rowbloom_SOURCES := $(filter-out $(rowbloom_LEFT_OUT),\
  $(notdir $(wildcard plugin/rowbloom/*.cc)))
