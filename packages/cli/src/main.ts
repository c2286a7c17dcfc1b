#!/usr/bin/env node
import module from 'node:module'

await import('@skillstead/core/internal/check-node').catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
// Cache compiled code between starts: commands start in half the time and use less memory.
module.enableCompileCache?.()
const { run } = await import('./run.ts')
const { processIo } = await import('./process-io.ts')
process.exitCode = await run(process.argv.slice(2), processIo)
