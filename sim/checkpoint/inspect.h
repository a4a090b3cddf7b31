// What a checkpoint is, for people.
#pragma once

#include <string>

#include "sim/checkpoint/source.h"

namespace shardscope {

/// What is saved, of which step, what each rank holds and where each tensor is: tables of at most
/// 80 columns as far as names allow. Of many ranks the first and the last are listed.
std::string checkpoint_text(const CheckpointSource& source);

/// "step 20 of ZERO1 on 8 ranks", "step 20 of DDP on 1 rank".
std::string checkpoint_words(const CheckpointManifest& manifest);

}  // namespace shardscope
