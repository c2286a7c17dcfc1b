import { endWithOutput, processIo } from '../../../src/process-io.ts'
import { run } from '../../../src/run.ts'

/** Does the same as `packages/cli/src/main.ts`, without the check of the Node version and the compile cache. */
export async function main(): Promise<void> {
  endWithOutput()
  process.exitCode = await run(process.argv.slice(2), processIo)
}

void main()
