import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Lists the packages that modules come from, each with its license; '' if no module comes from a package. */
export function describeLicenses(modules: readonly string[]): string {
  const outside = modules.filter((id) => id.includes('/node_modules/') && existsSync(id))
  const folders = [...new Set(outside.map(findModulePackage))]
  const sections = new Map(folders.map(describePackage))
  if (sections.size === 0) return ''
  const texts = [...sections].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
  return `# Licenses\n\nThis package contains code of the following packages.\n\n${texts.join('\n')}`
}

/** The folder of a module's package. Skips manifests without a version, which some packages have in subfolders. */
function findModulePackage(module: string): string {
  let folder = dirname(module)
  while (!existsSync(join(folder, 'package.json')) || readModuleManifest(folder).version === undefined) {
    folder = dirname(folder)
  }
  return folder
}

function describePackage(folder: string): [name: string, text: string] {
  const { name, version, license } = readModuleManifest(folder)
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(one))
  const text =
    file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim().replaceAll(/^/gm, '    ')}\n`
  return [name!, `## ${name} ${version} (${license})\n${text}`]
}

function readModuleManifest(folder: string): { name?: string; version?: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
