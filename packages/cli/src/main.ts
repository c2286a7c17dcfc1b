#!/usr/bin/env node
await import('@skillstead/core/internal/check-node').catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
const { enableCompileCache } = await import('./files/compile-cache.ts')
enableCompileCache()
const { run } = await import('./run.ts')
const { endWithOutput, processIo } = await import('./process-io.ts')
endWithOutput()
process.exitCode = await run(process.argv.slice(2), processIo)
