/** Builds the pages and the command of this clone, unless they were built from these very files. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buildDashboard } from '../../dashboard/building/build.ts'
import { builds, toBuild } from './program.ts'

/** Processes that run load parts of their build later, so that the last ones are kept. */
const keptBuilds = 3

await buildDashboard()
const build = toBuild()
if (!existsSync(build))
  await buildCommand().catch((error: Error) => {
    console.error(`The command starts from its sources, more slowly, because it could not be bundled: ${error.message}`)
  })

async function buildCommand(): Promise<void> {
  const { bundleClone } = await import('../packing/bundle-clone.ts')
  const unfinished = `${build}.${process.pid}`
  await mkdir(builds, { recursive: true })
  await bundleClone(unfinished)
  // Another process may have built the same, and a file may have changed meanwhile.
  if (existsSync(build) || toBuild() !== build) await rm(unfinished, { recursive: true })
  else await rename(unfinished, build)
  await removeOld()
}

async function removeOld(): Promise<void> {
  const names = await readdir(builds)
  const found = await Promise.all(names.map(async (name) => ({ name, ms: (await stat(join(builds, name))).mtimeMs })))
  const old = found.toSorted((a, b) => b.ms - a.ms).slice(keptBuilds)
  await Promise.all(old.map(({ name }) => rm(join(builds, name), { recursive: true, force: true })))
}
