# SPDX-License-Identifier: Apache-2.0
# The variables that RocksDB's Makefile reads: docs/rocksdb_reference.md, "Inside
# RocksDB".
#
# RocksDB's CMake reads the line of the function in this file too, and would
# read the sources if they followed a plain "=".

rowbloom_FUNC = rowbloom_register
rowbloom_PKGCONFIG_REQUIRES := rowbloom-planning absl_strings
rowbloom_CXXFLAGS := -Iplugin/rowbloom/include -Iplugin/rowbloom
rowbloom_NATIVE := policy/builtin_filter.cc policy/native_policy.cc \
  policy/row_filter_builder.cc policy/row_filter_reader.cc
ifeq ($(ROWBLOOM_ROCKSDB_NATIVE),OFF)
rowbloom_LEFT_OUT := $(rowbloom_NATIVE)
else
rowbloom_LEFT_OUT := policy/native_policy_absent.cc
endif
rowbloom_SOURCES := $(filter-out $(rowbloom_LEFT_OUT),\
  $(patsubst plugin/rowbloom/%,%,$(wildcard $(addprefix plugin/rowbloom/,\
    *.cc policy/*.cc budget/*.cc reads/*.cc refresh/*.cc verify/*.cc))))
