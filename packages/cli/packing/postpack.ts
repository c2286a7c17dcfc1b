/** Runs in a package after npm packed it: removes what `prepack.ts` created. */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { copiedFolders, keptManifest } from './pack-paths.ts'

if (existsSync(keptManifest)) renameSync(keptManifest, 'package.json')
const { name }: { name: string } = JSON.parse(readFileSync('package.json', 'utf8'))
rmSync('licenses.md', { force: true })
// With the bundled declarations in `dist`, the compiler would read them for packages that depend on this package.
rmSync('dist', { recursive: true, force: true })
for (const [, to] of copiedFolders[name] ?? []) rmSync(to, { recursive: true, force: true })
