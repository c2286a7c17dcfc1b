/** Runs in a package after npm packed it: removes what `prepack.ts` created. */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { copiedFolders, keptManifest } from './pack-paths.ts'

if (existsSync(keptManifest)) renameSync(keptManifest, 'package.json')
const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }
rmSync('licenses.md', { force: true })
// Otherwise the compiler would read the bundled declarations when it compiles a package that depends on this package.
rmSync('dist', { recursive: true, force: true })
for (const [, to] of copiedFolders[name] ?? []) rmSync(to, { recursive: true, force: true })
