/** The command that scans files, for programs with a command line of their own. */
export type { ScanIo } from './command/io.ts'
export type { OpenPlace } from './command/open-all.ts'
export { runScan, type ScanTotals } from './command/run-scan.ts'
export type { Sample } from './command/sample.ts'
export { openSamples, type SampleOptions } from './command/samples.ts'
export { findRequestProblem, scanOptions, toScanRequest, type ScanRequest } from './command/scan-options.ts'
