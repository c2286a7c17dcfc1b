/** Builds the pages and the command of this clone, unless a build from the same files exists. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readErrorCode, toOneLine } from '@skillstead/protocol'
import { buildDashboard } from '../../dashboard/building/build.ts'
import { builds, toBuild, toUsers } from './program.js'

const build = toBuild()
if (!existsSync(build)) console.error('Building the pages and the command of this clone, once after each change ...')
await buildDashboard()
if (!existsSync(build))
  await buildCommand().catch((error: Error) => {
    console.error(
      `The command starts from its sources, more slowly, because it could not be bundled: ${toOneLine(error.message)}`,
    )
  })

async function buildCommand(): Promise<void> {
  const { bundleClone } = await import('../packing/bundle-clone.ts')
  const unfinished = `${build}.${process.pid}`
  await mkdir(builds, { recursive: true })
  await bundleClone(unfinished)
  await mkdir(toUsers(unfinished))
  // Discard the build if another process has made the same one, or if a source file has changed meanwhile.
  if (existsSync(build) || toBuild() !== build) await rm(unfinished, { recursive: true })
  else await rename(unfinished, build)
  await removeUnused()
}

/** Removes builds that no process uses, except the current build, and unfinished builds of killed processes. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(builds)) {
    const [, builder] = name.split('.')
    const users = builder === undefined ? await readdir(toUsers(join(builds, name))).catch(() => []) : [builder]
    if (name !== basename(build) && !users.some(isRunning))
      await rm(join(builds, name), { recursive: true, force: true })
  }
}

function isRunning(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch (error) {
    return readErrorCode(error) === 'EPERM'
  }
}
