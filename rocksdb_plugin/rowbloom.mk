# SPDX-License-Identifier: Apache-2.0
# What RocksDB's Makefile reads of the plugin; README.md, "Inside RocksDB".
#
# RocksDB's CMake takes the line of the function out of this file, too, and
# would take the sources if they stood behind a plain "=".

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
