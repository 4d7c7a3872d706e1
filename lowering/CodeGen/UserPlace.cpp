// From locations of every kind to a line of the user's.
#include "lowering/CodeGen/UserPlace.h"

using namespace mlir;

namespace tessera::lowering {

FileLineColLoc userPlace(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return file;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return userPlace(call.getCaller());
  if (auto name = dyn_cast<NameLoc>(loc))
    return userPlace(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (FileLineColLoc file = userPlace(part))
        return file;
  return {};
}

} // namespace tessera::lowering
