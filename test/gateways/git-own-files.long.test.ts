import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../support/git-program.ts'
import { startNode } from '../support/server-harness.ts'

const skillMd = (name: string) => `---\nname: ${name}\ndescription: Reads files\n---\r\nLines end\r\nin two ways.\n`

/** What breaks or changes a clone if git reads it. */
const hostile: Record<string, Record<string, string>> = {
  filters: { '.gitattributes': '* filter=lfs diff=lfs merge=lfs -text\n', 'a.png': 'image' },
  ends: {
    '.gitattributes': '* text eol=crlf\n',
    'sub/.gitattributes': '*.txt text eol=crlf ident\n',
    'sub/b.txt': '$Id$\n',
  },
  encodings: {
    '.gitattributes': '*.txt working-tree-encoding=UTF-16\n',
    'b.txt': 'Text.\n',
    '.GitAttributes.skill': 'x',
  },
  modules: { '.gitmodules': 'not ini [', 'sub/.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = -u./x\n' },
  folded: {
    '.GITMODULES': '[submodule "../../x"]\n\tpath = x\n\turl = http://a.invalid/x\n',
    'sub/gitmod~1': 'not ini [',
  },
  settings: { '.lfsconfig': '[lfs]\n\turl = http://a.invalid/\n', '.gitmodules/x/a.txt': 'A folder.\n' },
}

const settings = [
  'transfer.fsckObjects=true',
  'core.autocrlf=true',
  'filter.lfs.required=true',
  'filter.lfs.process=git-lfs-is-not-here filter-process',
].flatMap((setting) => ['-c', setting])

async function readFolder(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1)
    if (entry.isFile() && !/^\.git(?:\/|$)/.test(path)) files[path] = await readFile(join(folder, path), 'latin1')
  }
  return files
}

async function startHostile() {
  const { api, node } = await startNode()
  for (const [name, files] of Object.entries(hostile)) {
    const list = Object.entries(files).map(([path, content]) => ({ path, content }))
    await api.publishSkill({ skillMd: skillMd(name), version: '1.0.0', files: list })
  }
  await api.createPack({
    name: 'All',
    slug: 'all',
    description: '',
    skills: Object.keys(hostile).map((name) => `alice/${name}`),
  })
  return { api, base: `${node.url}/git` }
}

const unchanged = (name: string) => {
  const files = Object.entries(hostile[name]!).map(([path, content]) => [
    path.replace(/(?<=^|\/)(\.git(?:attributes|modules)(?:\.skill)?|\.lfsconfig|gitmod~1)(?=\/|$)/i, '$1.skill'),
    content,
  ])
  return { 'SKILL.md': skillMd(name), ...(Object.fromEntries(files) as Record<string, string>) }
}

describe('a clone of skills with files that git interprets, like .gitattributes', () => {
  it.each(['alice', 'packs/all'])('has the published bytes of all skills of %s', async (repository) => {
    const { base } = await startHostile()
    const git = await openGit()
    for (const depth of [[], ['--depth', '1']]) {
      const target = `clone${depth.length}`
      const args = [
        'clone',
        '--recurse-submodules',
        '--shallow-submodules',
        ...depth,
        `${base}/${repository}.git`,
        target,
      ]
      await git.run(...settings, ...args)
      expect(await git.run('-C', target, 'fsck', '--strict', '--full')).toBe('')
      expect(await git.run('-C', target, ...settings, 'status', '--porcelain')).toBe('')
      for (const name of Object.keys(hostile)) {
        expect(await readFolder(join(git.folder, target, 'skills', name))).toEqual(unchanged(name))
      }
    }
  })

  it('has the published bytes of a single skill', async () => {
    const { base } = await startHostile()
    const git = await openGit()
    for (const name of Object.keys(hostile)) {
      await git.run(...settings, 'clone', '--recurse-submodules', `${base}/alice/${name}.git`)
      expect(await git.run('-C', name, 'fsck', '--strict', '--full')).toBe('')
      const { '.gitattributes': own, ...files } = await readFolder(join(git.folder, name))
      expect(own).toMatch(/^\* -text /)
      expect(files).toEqual(unchanged(name))
    }
  })
})
