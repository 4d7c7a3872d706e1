// Tensors in files.
#pragma once

#include "tessera/Module.h"

namespace tessera::io {

/// Writes tensors by name to a safetensors file. Evaluates them. Throws
/// IoError.
void save(const std::string &path, const nn::TensorMap &tensors,
          std::source_location place = std::source_location::current());
void save(const std::string &path, nn::Module &module,
          std::source_location place = std::source_location::current());
/// The tensors of a safetensors file by name. Throws IoError for a file that is
/// missing, truncated or wrong.
nn::TensorMap
load(const std::string &path,
     std::source_location place = std::source_location::current());

/// One tensor as an npy file. Throws IoError.
void save_npy(const std::string &path, const Tensor &tensor,
              std::source_location place = std::source_location::current());
Tensor load_npy(const std::string &path,
                std::source_location place = std::source_location::current());
/// The arrays of an npz file by name, compressed or not. Throws IoError.
nn::TensorMap
load_npz(const std::string &path,
         std::source_location place = std::source_location::current());

} // namespace tessera::io
