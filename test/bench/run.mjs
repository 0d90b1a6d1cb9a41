console.error('The benchmarks are not written yet.');
process.exitCode = 1;
