/** The command that scans files, for programs with a command line of their own. */
export { runScan, type ScanTotals } from './command/run-scan.ts'
export type { Sample } from './report/sample.ts'
export { openSamples, type OpenPlace, type SampleOptions } from './command/samples.ts'
export { findRequestProblem, scanOptions, toScanRequest, type ScanRequest } from './command/scan-options.ts'
export type { ScanIo } from './command/scan-output.ts'
