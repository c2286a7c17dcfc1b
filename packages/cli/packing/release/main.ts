/**
 * `pnpm release`: writes everything that a release consists of into `dist/release`, and publishes nothing. `--host-only`
 * builds the executable file for this machine alone, without downloads.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs, promisify } from 'node:util'
import { readProgramVersion } from '../../src/version.ts'
import { buildBinary } from '../binary/build-binary.ts'
import { hostTarget, nodePackages, unsupportedTargets } from '../binary/targets.ts'
import { takeNotes, toReleaseNotes } from './notes.ts'
import { packAll, releaseFolder as folder, root } from './pack-all.ts'
import { writeSbom } from './sbom.ts'

const run = promisify(execFile)
const { values } = parseArgs({ options: { 'host-only': { type: 'boolean' } } })
const version = readProgramVersion()
// Without notes, fail before anything is built.
const changes = takeNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version)

await rm(folder, { recursive: true, force: true })
const tarballs = await packAll(folder)
for (const tarball of tarballs) await checkPublication(tarball)
// PACKAGES lists the packages in the order in which to publish them.
await writeFile(join(folder, 'PACKAGES'), tarballs.map((tarball) => `${basename(tarball)}\n`).join(''))
console.log(`Packed ${tarballs.length} packages, which \`npm publish --dry-run --provenance\` accepts.`)

const targets = values['host-only'] ? [hostTarget] : [...new Set([hostTarget, ...Object.keys(nodePackages)])]
const executables: string[] = []
for (const target of targets) {
  const name = `skillstead-${version}-${target}${target.startsWith('win32-') ? '.exe' : ''}`
  const file = await buildBinary(join(folder, name), target)
  if (target === hostTarget) await checkExecutable(file)
  console.log(`Built ${name}${target === hostTarget ? ', and ran it' : ''}.`)
  executables.push(name)
}
const unsupported = Object.entries(unsupportedTargets).filter(([target]) => !targets.includes(target))
for (const [target, reason] of unsupported) console.log(`None for ${target}: ${reason}.`)

await writeSbom(join(folder, 'sbom.cdx.json'), version, tarballs)
const notes = toReleaseNotes({ version, changes, executables, unsupported: Object.fromEntries(unsupported) })
await writeFile(join(folder, 'RELEASE_NOTES.md'), notes)
const names = (await readdir(folder)).toSorted()
const sums = await Promise.all(names.map(async (name) => `${await hashFile(join(folder, name))}  ${name}\n`))
await writeFile(join(folder, 'SHA256SUMS'), sums.join(''))
console.log(`Wrote ${names.length + 1} files to dist/release.`)

/**
 * Throws if npm would correct the manifest of a package. The dry run needs no account, and makes no proof of origin
 * outside of a workflow.
 */
async function checkPublication(tarball: string): Promise<void> {
  const { stderr } = await run('npm', ['publish', '--dry-run', '--provenance', '--access', 'public', tarball])
  const corrected = /^npm warn publish (?:npm auto-corrected|errors corrected).*$/m.exec(stderr)
  if (corrected) throw new Error(`npm would change ${basename(tarball)}. Fix its package.json: ${corrected[0]}`)
}

async function checkExecutable(file: string): Promise<void> {
  const { stdout } = await run(file, ['--version'])
  if (stdout !== `${version}\n`)
    throw new Error(`${basename(file)} printed '${stdout}' as its version, not ${version}. Build it again.`)
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
