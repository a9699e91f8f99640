#pragma once

namespace ringside::cli {

/// From now on Ctrl-C ends the program with status 130 and the sentence that --resume goes on. Ranks that run have been
/// ended by then (real/system/interrupt.hpp), and every finished point is in the journal.
void say_how_to_resume_when_interrupted();

}  // namespace ringside::cli
