// Everything a user of Tessera includes.
#pragma once

#include "tessera/Activation.h"
#include "tessera/Autodiff.h"
#include "tessera/Creation.h"
#include "tessera/DType.h"
#include "tessera/Elementwise.h"
#include "tessera/Error.h"
#include "tessera/Index.h"
#include "tessera/Manipulation.h"
#include "tessera/Product.h"
#include "tessera/Reduction.h"
#include "tessera/Scope.h"
#include "tessera/Shape.h"
#include "tessera/Tensor.h"
#include "tessera/Tree.h"
