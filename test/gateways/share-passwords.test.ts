import { afterAll, beforeAll, expect, it } from 'vitest'
import { toKey, walk } from '../support/gateway-walk.ts'
import { openNode } from '../support/server-harness.ts'

const toSkillMd = (name: string) =>
  `---\nname: ${name}\ndescription: Walks with a quokkawalk, zqdescription${name}.\n---\n\n# Steps\n\nzqbody${name}.\n`

let node: Awaited<ReturnType<typeof openNode>>
let password: Record<'authorization', string>
const toSkill = (name: string) => ({ owner: 'alice', name, version: '1.0.0', pack: 'walk', share: 'ssl_absent' })

beforeAll(async () => {
  node = await openNode({ requireKey: true, discoveryPack: 'walk' })
  const { api } = node
  for (const name of ['shared', 'other']) {
    const files = [{ path: 'notes/more.txt', content: `zqfile${name}\n` }]
    await api.publishSkill({ skillMd: toSkillMd(name), files, version: '1.0.0' })
  }
  await api.createPack({ name: 'Walk', slug: 'walk', description: 'A walk.', skills: ['shared', 'other'] })
  const { token } = await api.createShare({ name: 'alice/shared' })
  password = { authorization: `Basic ${btoa(`any:${token}`)}` }
})
afterAll(() => node.close())

it('a share link used as a password opens no other public skill of a private node', async () => {
  const [seen, absent] = [
    await walk(node.node.url, [toSkill('other')], password),
    await walk(node.node.url, [toSkill('absent')], password),
  ]
  const leaks = seen.filter(({ status, text, visit }) => {
    const isLeak = ['zqdescription', 'zqbody', 'zqfile'].some((trace) => text.includes(trace))
    return isLeak || status === 200 || (text.includes('alice/other') && !toKey(visit).includes('other'))
  })
  expect(leaks.map(({ gateway, visit, status }) => `${gateway}: ${toKey(visit)}: ${status}`)).toEqual([])
  const toLine = ({ visit, status }: (typeof seen)[number]) =>
    `${toKey(visit).replaceAll(/other|absent/g, 'NAME')}: ${status}`
  expect(seen.map(toLine).toSorted()).toEqual(absent.map(toLine).toSorted())
})

it('a share link used as a password opens the shared skill of a private node', async () => {
  const seen = await walk(node.node.url, [toSkill('shared')], password)
  const opened = ['apm', 'git', 'npm', 'oci'].map((name) => {
    const texts = seen.filter(({ gateway, status }) => gateway === name && status === 200).map(({ text }) => text)
    return [name, ['zqbodyshared', 'zqfileshared'].every((trace) => texts.some((text) => text.includes(trace)))]
  })
  expect(opened).toEqual(['apm', 'git', 'npm', 'oci'].map((name) => [name, true]))
  expect(seen.filter(({ text }) => text.includes('zqdescriptionother'))).toEqual([])
  const signIn = await fetch(`${node.node.url}/v2/`, { headers: password })
  expect(signIn.status).toBe(200)
})
