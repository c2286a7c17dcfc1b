import { processIo } from '../../../src/process-io.ts'
import { run } from '../../../src/run.ts'

/** `packages/cli/src/main.ts` without what only a Node that may be of any age needs. */
export async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), processIo)
}

void main()
