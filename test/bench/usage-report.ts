import { writeFileSync } from 'node:fs'

/** Loaded into a process that is measured: at its end it writes its CPU time, in microseconds, where it is told. */
process.once('exit', () => writeFileSync(process.env['SKILLSTEAD_BENCH_USAGE']!, JSON.stringify(process.cpuUsage())))
