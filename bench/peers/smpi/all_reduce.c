/* What SimGrid SMPI simulates: one all_reduce per size in bytes given, each after a barrier. Prints `bytes seconds`,
 * seconds of simulated time from the barrier until the slowest rank is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    const long bytes = atol(argv[i]);
    /* One block of memory for all ranks: the contents do not matter here. */
    float* input = SMPI_SHARED_MALLOC(bytes);
    float* output = SMPI_SHARED_MALLOC(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Allreduce(input, output, (int)(bytes / (long)sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double mine = MPI_Wtime() - start;
    double slowest = 0;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%ld %.17g\n", bytes, slowest);
    }
    SMPI_SHARED_FREE(input);
    SMPI_SHARED_FREE(output);
  }
  MPI_Finalize();
  return 0;
}
