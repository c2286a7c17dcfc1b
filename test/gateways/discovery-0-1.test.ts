import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openNode } from '../support/server-harness.ts'

interface FileIndex {
  readonly skills: { readonly name: string; readonly description: string; readonly files: string[] }[]
}

const folder = '/.well-known/skills'
const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`
const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40, 0xff)])

let node: Awaited<ReturnType<typeof openNode>>
let bobKey: string
const get = (path: string, init?: RequestInit) => fetch(`${node.node.url}${path}`, { redirect: 'manual', ...init })
const ask = (scope: string, init?: RequestInit) => get(`${scope}${folder}/index.json`, init)
const index = async (scope: string) => (await (await ask(scope)).json()) as FileIndex
const names = async (scope: string) => (await index(scope)).skills.map(({ name }) => name)
const textOf = async (path: string) => (await get(path)).text()

beforeAll(async () => {
  node = await openNode({ discoveryPack: 'basics' })
  bobKey = await node.createUser('bob')
  const files = [
    { path: 'scripts/deep/run it.sh', content: 'echo hi\n' },
    { path: 'logo.png', content: image.toString('base64'), encoding: 'base64' as const },
  ]
  await node.api.publishSkill({ skillMd: toSkillMd('tool'), version: '1.0.0' })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.1.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })
  const body = JSON.stringify({ skillMd: toSkillMd('tool', 'Of Bob.'), version: '0.1.0' })
  const headers = { authorization: `Bearer ${bobKey}`, 'content-type': 'application/json' }
  await node.get('/skills', { method: 'PUT', headers, body })
  const skills = ['alice/pdf', { name: 'alice/tool', version: '1.0.0' }, 'bob/tool', 'alice/secret']
  await node.api.createPack({ name: 'Basics', description: '', skills })
})
afterAll(() => node.close())

describe('a discovery index of version 0.1', () => {
  it('lists the skills of an owner with the paths of their files, SKILL.md first', async () => {
    expect(await index('/alice')).toEqual({
      skills: [
        { name: 'pdf', description: 'Reads PDF files', files: ['SKILL.md'] },
        { name: 'tool', description: 'What tool does', files: ['SKILL.md', 'logo.png', 'scripts/deep/run it.sh'] },
      ],
    })
  })

  it.each([
    ['/alice/tool', ['tool']],
    ['/alice/tool@1.0.0', ['tool']],
    ['/packs/basics', ['pdf', 'tool']],
    ['', ['pdf', 'tool']],
  ])('is at the scope "%s"', async (scope, expected) => {
    expect(await names(scope)).toEqual(expected)
  })

  it('is served at a share link, lists only the shared skill, and must not be cached', async () => {
    const { token } = await node.api.createShare({ name: 'alice/secret' })
    expect(await names(`/t/${token}`)).toEqual(['secret'])
    expect(await textOf(`/t/${token}${folder}/secret/SKILL.md`)).toBe(toSkillMd('secret'))
    expect((await get(`/t/${token}${folder}/tool/SKILL.md`)).status).toBe(404)
    const { headers } = await ask(`/t/${token}`)
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['private, no-store', 'no-referrer'])
    expect((await ask('/t/ssl_unknown')).status).toBe(404)
  })

  it.each(['/unknown-user', '/alice/secret', '/alice/absent', '/packs/absent', '/alice/tool@9.9.9'])(
    'is absent at %s',
    async (scope) => {
      expect((await ask(scope)).status).toBe(404)
    },
  )

  it('leaves out a skill whose paths would make clients refuse the whole index', async () => {
    const files = [{ path: 'notes..md', content: 'Notes.' }]
    await node.api.publishSkill({ skillMd: toSkillMd('dotted'), version: '1.0.0', files })
    expect(await names('/alice')).not.toContain('dotted')
    expect((await ask('/alice/dotted')).status).toBe(404)
    await node.api.deleteSkill({ name: 'alice/dotted' })
  })
})

describe('a file of an index of version 0.1', () => {
  it('has the published bytes, whether slashes in its URL are plain or encoded', async () => {
    for (const path of ['scripts/deep/run%20it.sh', 'scripts%2Fdeep%2Frun%20it.sh']) {
      expect(await textOf(`/alice${folder}/tool/${path}`)).toBe('echo hi\n')
    }
    const logo = await get(`/alice/tool${folder}/tool/logo.png`)
    expect(Buffer.from(await logo.arrayBuffer())).toEqual(image)
    expect(logo.headers.get('content-security-policy')).toContain('sandbox')
  })

  it('has the content of the skill and version that the index lists', async () => {
    expect(await textOf(`/alice/tool${folder}/tool/SKILL.md`)).toBe(toSkillMd('tool', 'Reads more.'))
    for (const scope of ['/alice/tool@1.0.0', '/packs/basics', '']) {
      expect(await textOf(`${scope}${folder}/tool/SKILL.md`)).toBe(toSkillMd('tool'))
      expect((await get(`${scope}${folder}/tool/logo.png`)).status).toBe(404)
    }
  })

  it.each([
    '/alice/.well-known/skills/tool/absent.md',
    '/alice/.well-known/skills/tool/skill.md',
    '/alice/.well-known/skills/tool/..%2fSKILL.md',
    '/alice/.well-known/skills/secret/SKILL.md',
    '/alice/.well-known/skills/default/skill.md',
    '/alice/tool/.well-known/skills/pdf/SKILL.md',
    '/packs/basics/.well-known/skills/secret/SKILL.md',
  ])('is absent at %s', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  it('counts as a download only if it is SKILL.md', async () => {
    await node.api.publishSkill({
      skillMd: toSkillMd('counted'),
      version: '1.0.0',
      files: [{ path: 'a.md', content: 'A' }],
    })
    const base = `/alice/counted${folder}/counted`
    const first = await get(`${base}/a.md`)
    expect(first.status).toBe(200)
    await get(`${base}/SKILL.md`, { method: 'HEAD' })
    await get(`${base}/SKILL.md`, { headers: { 'x-skills-update-check': '1' } })
    const counted = async () => (await node.api.getDownloads({ name: 'alice/counted' })).total
    expect(await counted()).toBe(0)
    await get(`${base}/SKILL.md`)
    await expect.poll(counted).toBe(1)
    await node.api.deleteSkill({ name: 'alice/counted' })
    expect((await get(`${base}/SKILL.md`)).status).toBe(404)
  })

  it('is found at its new URL after a transfer', async () => {
    const files = [{ path: 'docs/a b.md', content: 'A' }]
    await node.api.publishSkill({ skillMd: toSkillMd('moved'), version: '1.0.0', files })
    await node.api.transferSkill({ name: 'alice/moved', newOwner: 'bob' })
    const headers = { authorization: `Bearer ${bobKey}` }
    await node.get('/skills/alice%2Fmoved/transfer/accept', { method: 'POST', headers })
    const moved = await get(`/alice${folder}/moved/docs/a%20b.md`)
    expect([moved.status, moved.headers.get('location')]).toEqual([308, `/bob${folder}/moved/docs/a%20b.md`])
    const follow = await get(`/alice/moved${folder}/moved/docs/a%20b.md`, { redirect: 'follow' })
    expect(await follow.text()).toBe('A')
  })
})
