#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  console.error(`The scanner needs Node 22.14 or later; this is Node ${process.versions.node}.`)
  process.exit(1)
}
const { runCommandLine } = await import('./command/command-line.ts')
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  /** A second interruption ends the process at once. */
  interruption() {
    const controller = new AbortController()
    function interrupt(): void {
      if (controller.signal.aborted) process.exit(130)
      controller.abort()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
    return controller.signal
  },
})
