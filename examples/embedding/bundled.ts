// Bundles a program with esbuild, and copies the files of the worker threads next to it. Run it in a project that has
// @skillstead/core, better-sqlite3 and esbuild from npm, because a checkout has no built threads:
//   node bundled.ts
import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

buildSync({
  entryPoints: { main: fileURLToPath(new URL('./bundled-program.ts', import.meta.url)) },
  outdir: 'app',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  // The driver is a native file, and `pg` is loaded for PostgreSQL only, in a chunk of its own.
  external: ['better-sqlite3', 'pg'],
})
const thread = fileURLToPath(import.meta.resolve('@skillstead/core/threads/scan-worker.js'))
cpSync(dirname(thread), 'app/threads', { recursive: true })
console.log(execFileSync(process.execPath, ['app/main.mjs'], { encoding: 'utf8' }).trimEnd())
