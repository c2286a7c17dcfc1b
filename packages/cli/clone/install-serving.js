// Installs the packages that `start` and `skillstead` need, unless they were installed from the same lockfile and
// manifests already. Plain JavaScript: the first run has only the machine's own Node, which may be an old one.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const stamp = join(root, 'node_modules/.skillstead-installed')
const install = 'npx --yes pnpm@12 install --filter skillstead... --filter @skillstead/dashboard...'

if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digestInputs()) {
  // The launcher compares times of files: this one is now newer than the lockfile.
  writeFileSync(stamp, digestInputs())
} else {
  console.error(`Installing the packages of ${root} ...`)
  // Standard output belongs to the command that follows.
  const { status } = spawnSync(install, { cwd: root, shell: true, stdio: ['ignore', 2, 2] })
  if (status === 0) writeFileSync(stamp, digestInputs())
  else console.error(`The packages could not be installed. Run this in ${root} to see why: ${install}`)
  process.exitCode = status === 0 ? 0 : 1
}

/** The lockfile and all manifests: what an install depends on. */
function digestInputs() {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
  const manifests = ['', ...folders].map((folder) => join(folder, 'package.json'))
  const hash = createHash('sha256')
  for (const path of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests])
    if (existsSync(join(root, path)))
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update('\0')
  return hash.digest('hex')
}
