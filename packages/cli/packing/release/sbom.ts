import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './pack-all.ts'

const run = promisify(execFile)

/** A component of a CycloneDX document. */
interface Component {
  name: string
  group?: string
  version: string
  scope?: string
  properties?: readonly object[]
}

/**
 * Writes a CycloneDX document of everything that the packages are built from. `scope` is `excluded` for tools whose
 * code is in none of the tarballs.
 */
export async function writeSbom(file: string, version: string, tarballs: readonly string[]): Promise<void> {
  const filter = ['--filter', './packages/*', '--lockfile-only']
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--out', file]
  await run('npx', ['--yes', 'pnpm@12', 'sbom', ...format, ...filter], { cwd: root })
  const named = (await readFile(file, 'utf8'))
    .replaceAll('skillstead-workspace@0.0.0', `skillstead@${version}`)
    .replace(
      '"name": "skillstead-workspace",\n      "version": "0.0.0"',
      `"name": "skillstead",\n      "version": "${version}"`,
    )
  const document: { components: Component[] } = JSON.parse(named)
  const bundled = new Set((await Promise.all(tarballs.map(listBundled))).flat())
  for (const component of document.components) {
    if (!bundled.has(`${toFullName(component)} ${component.version}`)) continue
    // pnpm takes a bundled package for a tool, because the tarballs contain its code and do not depend on it.
    delete component.scope
    delete component.properties
  }
  const node = { type: 'application', name: 'node', version: process.versions.node }
  const nodePurl = `pkg:npm/node@${node.version}`
  document.components.push(Object.assign(node, { purl: nodePurl, 'bom-ref': nodePurl }))
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`)
}

const toFullName = ({ group, name }: Component) => (group ? `${group}/${name}` : name)

/** The packages whose code a tarball contains, as `NAME VERSION`: the headings of its files `licenses.md`. */
async function listBundled(tarball: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-sbom-'))
  try {
    await run('tar', ['-xzf', tarball, '-C', folder])
    const files = globSync('package/**/licenses.md', { cwd: folder })
    const texts = await Promise.all(files.map((path) => readFile(join(folder, path), 'utf8')))
    // Vite writes a dash between name and version.
    return [...texts.join('\n').matchAll(/^## (\S+) (?:- )?(\d\S*) \(/gm)].map(([, name, found]) => `${name} ${found}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}
