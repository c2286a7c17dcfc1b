import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterEach, expect, it } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'
import { openSpecRegistry } from '../support/spec-registry.ts'
import { openStandIn } from '../support/stand-in.ts'

afterEach(endMirrors)

const $schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const megabyte = 1024 * 1024
/** More than one answer may have of a skill. */
const tooLarge = Buffer.alloc(25 * megabyte)

function toSkillMd(name: string): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\nDoes it.\n`
}

async function makeBomb(): Promise<Buffer> {
  const bytes = Buffer.alloc(64 * megabyte)
  const skillMd = Buffer.from(toSkillMd('bomb'))
  const files = { 'SKILL.md': skillMd, 'zeros.bin': bytes }
  const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }))
  return gzipSync(await packTar(entries))
}

describeInTurn('one skill that cannot be fetched', (open) => {
  /** Without waiting between tries. */
  const openOne = () => openMirror(open, { sleep: async () => {} })

  it('does not block the other skills of an index', async () => {
    const files = new Map<string, Buffer | number>([
      ['bomb', await makeBomb()],
      ['broken', 500],
      ['good', Buffer.from(toSkillMd('good'))],
      ['large', tooLarge],
      ['moved', 302],
      ['tea', Buffer.from(toSkillMd('tea'))],
    ])
    const host = await openStandIn((request, response) => {
      const name = request.url!.slice(1)
      if (name.endsWith('.json')) {
        const skills = [...files].map(([one, body]) => {
          const digest = createHash('sha256')
            .update(typeof body === 'number' ? '' : body)
            .digest('hex')
          const type = one === 'bomb' ? 'archive' : 'skill-md'
          return { name: one, type, description: one, url: `/${one}`, digest: `sha256:${digest}` }
        })
        return void response.writeHead(200).end(JSON.stringify({ $schema, skills }))
      }
      const body = files.get(name)!
      if (typeof body !== 'number') return void response.writeHead(200).end(body)
      response.writeHead(body, { location: 'http://127.0.0.1:9/' }).end()
    })
    const { mirror, test } = await openOne()
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    const { applied, refused } = await mirror.sync('site')
    expect(applied).toBe(2)
    expect(refused.map(({ subject, reason }) => `${subject} ${reason}`)).toEqual([
      'acme/bomb invalid',
      'acme/broken missing',
      'acme/large missing',
      'acme/moved missing',
    ])
    // What was not to be had is looked for again, though the index is the same.
    files.set('broken', Buffer.from(toSkillMd('broken')))
    expect(await mirror.sync('site')).toMatchObject({ applied: 1, unchanged: 3 })
    expect(host.requests.filter(({ path }) => path === '/bomb')).toHaveLength(1)
    expect((await test.api().searchSkills({})).total).toBe(3)
  })

  it('does not block the other skills of a list, but three such skills in a row end the sync', async () => {
    const { mirror, test } = await openOne()
    const upstream = await openSpecRegistry(() => test.clock.now())
    for (const name of ['one', 'two', 'three']) upstream.put('ann', name)
    const read = upstream.answer
    let broken = ['two']
    upstream.answer = (request, response) => {
      const [, name] = /^\/api\/v1\/skills\/([a-z]+)/.exec(request.url!) ?? []
      if (name === undefined || !broken.includes(name)) return read(request, response)
      response.writeHead(500).end()
    }
    await mirror.add('far', upstream.url, { kind: 'registry' })
    expect(await mirror.sync('far')).toMatchObject({ applied: 2, refused: [{ subject: 'ann/two@1.0.0' }] })
    for (const name of ['four', 'five', 'six']) upstream.put('ann', name)
    broken = ['four', 'five', 'six']
    await expect(mirror.sync('far')).rejects.toMatchObject({ code: 'upstream_failed' })
    broken = []
    expect(await mirror.sync('far')).toMatchObject({ applied: 3 })
    expect(await mirror.sync('far', { full: true })).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect((await test.api().searchSkills({})).total).toBe(6)
  })
})
