import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readBytes } from '@skillstead/skill-format/archives'
import { expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { makeProject } from '../support/install-harness.ts'
import { listFacts, readSbom } from '../support/read-sbom.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const files = {
  'SKILL.md': skillMd,
  'package.json': '{ "dependencies": { "zod": "4.1.0" } }',
  'run.sh': '#!/bin/sh\ncurl https://api.github.com\n',
}
const others = Object.entries(files).flatMap(([path, content]) => (path === 'SKILL.md' ? [] : [{ path, content }]))

async function makeSkill(more: Record<string, string> = {}): Promise<string> {
  const folder = await makeFolder()
  for (const [path, content] of Object.entries({ ...files, ...more })) await writeFile(join(folder, path), content)
  await chmod(join(folder, 'run.sh'), 0o755)
  return folder
}

it('`sbom FOLDER` describes a skill like the node to which the skill was published', async () => {
  const folder = await makeSkill()
  const { code, stdout, stderr } = await skillstead(['sbom', folder])
  expect([code, stderr]).toEqual([0, ''])
  const local = readSbom(stdout)
  const { api } = await startNode()
  await api.publishSkill({ skillMd, files: others, version: '2.0.0' })
  const published = readSbom(await readBytes(await api.getSbom({ name: 'pdf', version: '2.0.0' })))
  const [here, there] = [local, published].map(({ metadata: { component } }) => component)
  expect(here).toMatchObject({ name: 'pdf', purl: 'pkg:generic/pdf' })
  for (const fact of ['digest', 'verdict', 'score', 'rules-version', 'access:commands', 'access:hosts', 'capability'])
    expect([fact, listFacts(here!, fact)]).toEqual([fact, listFacts(there!, fact)])
  const toNames = ({ components }: typeof local) => components.map(({ name, hashes }) => [name, hashes])
  expect(toNames(local)).toEqual(toNames(published))
})

it('`sbom` writes the same document to a file, to standard output and as one line of JSON', async () => {
  const folder = await makeSkill()
  const out = join(await makeFolder(), 'new', 'skill.cdx.json')
  const written = await skillstead(['sbom', folder, '--out', out])
  expect([written.code, written.stdout]).toEqual([0, `Wrote ${out}.\n`])
  const text = await readFile(out, 'utf8')
  readSbom(text)
  expect((await skillstead(['sbom', folder])).stdout).toBe(text)
  const document = await skillsteadJson<object>(['sbom', folder])
  expect(document).toEqual(JSON.parse(text))
})

it('`sbom --lock` describes the installed skills, from the cache or from unchanged folders, without a network', async () => {
  const { api, node } = await startNode()
  await api.publishSkill({ skillMd, files: others, version: '2.0.0' })
  const csvMd =
    '---\nname: csv\ndescription: Reads tables\nlicense: MIT\nmetadata:\n  requires: [pdf@^2.0.0]\n---\n# CSV\n'
  await api.publishSkill({ skillMd: csvMd })
  const project = await makeProject()
  await project.run('install', 'csv', '--url', node.url)
  await node.close()
  const read = async () => {
    const { code, stdout, stderr } = await project.run('sbom', '--lock', 'skills.lock')
    expect([code, stderr]).toEqual([0, ''])
    return { text: stdout, document: readSbom(stdout) }
  }
  const first = await read()
  expect(first.document.components.map(({ purl }) => purl)).toEqual([
    'pkg:generic/alice/csv@1.0.0',
    'pkg:generic/alice/pdf@2.0.0',
    'pkg:npm/zod@4.1.0',
  ])
  const [csv, pdf] = first.document.components
  expect(csv).toMatchObject({ licenses: [{ license: { id: 'MIT' } }], components: [{ name: 'SKILL.md' }] })
  expect(first.document.dependencies.find(({ ref }) => ref === csv!['bom-ref'])!.dependsOn).toEqual([pdf!['bom-ref']])
  expect(listFacts(pdf!, 'required')).toEqual(['pkg:generic/alice/csv@1.0.0 ^2.0.0'])
  expect(listFacts(pdf!, 'source')).toEqual([node.url])
  expect(listFacts(pdf!, 'verdict')).toHaveLength(1)

  await rm(project.home, { recursive: true })
  await mkdir(project.home)
  expect((await read()).text, 'without the cache').toBe(first.text)
  await writeFile(join(project.folder, '.agents/skills/pdf/SKILL.md'), 'changed')
  await rm(join(project.folder, '.agents/skills/csv'), { recursive: true })
  const { document } = await read()
  expect(document.components.map((one) => listFacts(one, 'not-read'))).toEqual(
    Array.from({ length: 2 }, () => ['Its content is not here, or was changed. Run `skillstead install`.']),
  )
})

it('`sbom --lock` reads the folders of globally installed skills', async () => {
  const { api, node } = await startNode()
  await api.publishSkill({ skillMd, files: others, version: '2.0.0' })
  const { folder, home } = await makeProject()
  const options = { cwd: folder, env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config') } }
  expect((await skillstead(['install', 'pdf', '--global', '--url', node.url], options)).stderr).toBe('')
  await rm(join(home, '.cache'), { recursive: true })
  const lock = join(home, '.config/skillstead/skills.lock')
  const { stdout, stderr } = await skillstead(['sbom', '--lock', lock], options)
  expect(stderr).toBe('')
  expect(listFacts(readSbom(stdout).components[0]!, 'not-read')).toEqual([])
})

it('`sbom` names requirements that it did not read, and omits credentials in URLs', async () => {
  const folder = await makeSkill()
  await writeFile(
    join(folder, 'SKILL.md'),
    skillMd.replace('\n---\n', '\nmetadata:\n  requires: [acme/ok@^x.9.z]\n---\n'),
  )
  const json = { dependencies: { g: 'git+https://user:tok-en@git.example/x/y' } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(json))
  const { stdout } = await skillstead(['sbom', folder])
  expect(listFacts(readSbom(stdout).metadata.component, 'not-read').join()).toContain('acme/ok')
  expect(stdout).toContain('git+https://git.example/x/y')
  expect(stdout).not.toContain('tok-en')
})

it('`sbom` lists the parts of a damaged skill that it did not read', async () => {
  const folder = await makeSkill({ 'package.json': '{', 'poetry.lock': '' })
  const { stdout } = await skillstead(['sbom', folder])
  expect(listFacts(readSbom(stdout).metadata.component, 'not-read')).toEqual([
    expect.stringContaining('package.json: It is not valid'),
    'poetry.lock: Files of this kind are not read.',
  ])
})

it('`sbom` refuses a path that is neither a skill nor a lock, with advice', async () => {
  const empty = await makeFolder()
  const folder = await makeSkill()
  const refusals: [args: string[], code: number, message: string][] = [
    [[], 2, 'Pass the FOLDER of a skill'],
    [[folder, '--lock', 'skills.lock'], 2, 'Pass the FOLDER of a skill'],
    [[empty], 1, 'contains no SKILL.md'],
    [[join(empty, 'missing')], 1, 'is not a folder'],
    [[join(folder, 'SKILL.md')], 1, 'is not a folder'],
    [['--lock', join(empty, 'skills.lock')], 1, 'is not the skills.lock of a project'],
    [['--lock', join(folder, 'package.json')], 1, 'is not the skills.lock of a project'],
    [[folder, '--out', folder], 1, folder],
  ]
  await writeFile(join(folder, 'skills.lock'), '{')
  refusals.push([['--lock', join(folder, 'skills.lock')], 1, 'it is not JSON'])
  for (const [args, code, message] of refusals) {
    const answer = await skillstead(['sbom', ...args])
    expect([args, answer.code]).toEqual([args, code])
    expect(answer.stderr).toContain(message)
  }
})
