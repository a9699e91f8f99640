// What is precompiled for every test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cmake/precompiled.hpp"
