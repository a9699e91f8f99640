#pragma once

/// How many ranks this machine takes. All throw Error{environment}.
namespace ringside {

/// When these are more ranks than one machine should start.
void require_ranks(int num_ranks);

/// When so many processes would not have met in a minute on so many cores.
void require_cores(int num_ranks, int cores);

/// Makes room for the open files of so many ranks and their parent; throws if fewer are granted.
void require_files(int num_ranks);

/// Both, on the cores that this process may use.
void require_processes(int num_ranks);

}  // namespace ringside
