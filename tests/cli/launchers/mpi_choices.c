/* Which functions of the MPI library its collectives enter: a breakpoint on each, which is gone once it was met.
 *
 *   mpi_choices FUNCTIONS WARM_UPS COLLECTIVE:BYTES …
 *
 * FUNCTIONS has lines `name offset`, in hexadecimal from the beginning of the library; `-` = it exports that name. Rank 0
 * prints a line for each call: `COLLECTIVE BYTES`, then `RANKS=NAME,NAME` for each sequence that ranks met. BYTES is the
 * message as ringside counts it; elements are floats.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { kMost = 400, kText = 512 };

static struct {
  char name[96];
  uint8_t *address;
  uint8_t byte;
  int armed;
} points[kMost];
static int num_points;
static char met[kText];

static void on_trap(int number, siginfo_t *about, void *context) {
  (void)number;
  (void)about;
  ucontext_t *state = context;
  uint8_t *address = (uint8_t *)state->uc_mcontext.gregs[REG_RIP] - 1;
  for (int i = 0; i < num_points; ++i) {
    if (points[i].address == address && points[i].armed) {
      if (strlen(met) + strlen(points[i].name) + 2 < sizeof(met)) {
        strcat(strcat(met, met[0] ? "," : ""), points[i].name);
      }
      *address = points[i].byte;
      points[i].armed = 0;
      state->uc_mcontext.gregs[REG_RIP] -= 1;
      return;
    }
  }
  abort();
}

static void arm(int on) {
  for (int i = 0; i < num_points; ++i) {
    if (points[i].armed != on) {
      *points[i].address = on ? 0xcc : points[i].byte;
      points[i].armed = on;
    }
  }
}

static void read_points(const char *file) {
  Dl_info library;
  dladdr(dlsym(RTLD_DEFAULT, "MPI_Init"), &library);
  FILE *stream = fopen(file, "r");
  char offset[32];
  while (num_points < kMost && fscanf(stream, "%95s %31s", points[num_points].name, offset) == 2) {
    uint8_t *address = offset[0] == '-' ? dlsym(RTLD_DEFAULT, points[num_points].name)
                                        : (uint8_t *)library.dli_fbase + strtoull(offset, NULL, 16);
    if (address == NULL) {
      fprintf(stderr, "the library has no %s\n", points[num_points].name);
      exit(3);
    }
    const uintptr_t page = (uintptr_t)address & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
      perror("mprotect");
      exit(3);
    }
    points[num_points].address = address;
    points[num_points].byte = *address;
    ++num_points;
  }
  fclose(stream);
}

static void call(const char *collective, int elements, float *from, float *to, int *counts, int ranks, int rank) {
  const int part = elements / ranks;
  if (!strcmp(collective, "all_reduce")) {
    MPI_Allreduce(from, to, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "all_gather")) {
    MPI_Allgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "broadcast")) {
    MPI_Bcast(from, elements, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "reduce")) {
    MPI_Reduce(from, to, elements, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "gather")) {
    MPI_Gather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "all_to_all")) {
    MPI_Alltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (!strcmp(collective, "reduce_scatter")) {
    for (int i = 0; i < ranks; ++i) {
      counts[i] = part;
    }
    MPI_Reduce_scatter(from, to, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    fprintf(stderr, "no collective is called %s\n", collective);
    exit(2);
  }
  (void)rank;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  read_points(argv[1]);
  int *counts = calloc((size_t)ranks, sizeof(int));
  char *all = calloc((size_t)ranks, kText);
  for (int i = 3; i < argc; ++i) {
    char collective[32];
    long bytes = 0;
    sscanf(argv[i], "%31[^:]:%ld", collective, &bytes);
    float *from = calloc((size_t)bytes + 4, 1);
    float *to = calloc((size_t)bytes + 4, 1);
    for (int before = i == 3 || strncmp(argv[i], argv[i - 1], strlen(collective) + 1) ? atoi(argv[2]) : 0; before > 0; --before) {
      call(collective, (int)(bytes / 4), from, to, counts, ranks, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    met[0] = 0;
    arm(1);
    call(collective, (int)(bytes / 4), from, to, counts, ranks, rank);
    arm(0);
    MPI_Gather(met, kText, MPI_CHAR, all, kText, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%s %ld", collective, bytes);
      for (int one = 0; one < ranks; ++one) {
        int same = 0;
        int first = 1;
        for (int other = 0; other < ranks; ++other) {
          const int equal = !strcmp(all + one * kText, all + other * kText);
          same += equal;
          first = first && !(equal && other < one);
        }
        if (first) {
          printf(" %d=%s", same, all + one * kText);
        }
      }
      printf("\n");
      fflush(stdout);
    }
    free(from);
    free(to);
  }
  MPI_Finalize();
  return 0;
}
