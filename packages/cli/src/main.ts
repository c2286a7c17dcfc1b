#!/usr/bin/env node
import module from 'node:module'

// The native database addon needs Node-API 10; an older Node would crash on it without a message.
if (Number(process.versions.napi) < 10) {
  console.error(`Skillstead needs Node 22.14 or later; this is Node ${process.versions.node}.`)
  process.exit(1)
}
// Cache compiled code between starts: commands start in half the time and use less memory.
module.enableCompileCache?.()
const { run } = await import('./run.ts')
const { processIo } = await import('./process-io.ts')
process.exitCode = await run(process.argv.slice(2), processIo)
