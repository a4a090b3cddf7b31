// Times MPI_Allreduce of the sizes given, in bytes: one line for each, "bytes seconds".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    const size_t bytes = strtoull(argv[i], NULL, 10);
    float* data = SMPI_SHARED_MALLOC(bytes);
    float* sum = SMPI_SHARED_MALLOC(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Allreduce(data, sum, (int)(bytes / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double took = MPI_Wtime() - begin;
    double longest = 0;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%zu %.12g\n", bytes, longest);
    }
    SMPI_SHARED_FREE(data);
    SMPI_SHARED_FREE(sum);
  }
  MPI_Finalize();
  return 0;
}
