#include "sim/prediction.hpp"

#include "common/error.hpp"

namespace ringside {

std::string_view name(CostSource source) {
  switch (source) {
    case CostSource::spec:
      return "spec";
    case CostSource::calibrated:
      return "calibrated";
    case CostSource::given:
      return "given";
    case CostSource::spec_plus_known:
      return "spec+known";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a cost source has no name");
}

}  // namespace ringside
