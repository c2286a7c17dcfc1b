import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'

describe('the verification of authors from the command line', () => {
  let outside: Outside
  let server: Running
  let data: string
  let alice: ReturnType<typeof createClient>
  let id: string
  let place: string[]
  beforeAll(async () => {
    const folder = await makeFolder()
    data = join(folder, 'data')
    outside = await openOutside(['example.com'])
    const ca = join(folder, 'ca.pem')
    await writeFile(ca, `The one of the house.\n${outside.ca}`)
    const admin = await skillsteadJson<{ key: string }>(['users', 'create', 'root', '--data', data])
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])
    server = await startServer(['serve', '--port', '0', '--data', data, '--allow-networks', '127.0.0.0/8', '--ca', ca])
    alice = createClient({ baseUrl: server.url, apiKey: key })
    ;({ id } = await alice.verifyAuthor({ username: 'alice', method: 'manual', proof: 'I am\n\u001b[2JAlice.' }))
    place = ['--url', server.url, '--key', admin.key]
  })
  afterAll(async () => {
    await server.stop()
    await outside.close()
  })

  it('is listed on one line, even if the proof of the author has line breaks or control characters', async () => {
    const { stdout } = await skillstead(['verifications', 'list', '--status', 'pending', ...place])
    expect(stdout).toBe(`${id}  pending  alice  manual  I am [2JAlice.\n1 of 1.\n`)
    expect((await skillstead(['verifications', 'list', '--status', 'rejected', ...place])).stdout).toBe('0 of 0.\n')
    const { verifications } = await skillsteadJson<{ verifications: object[] }>(['verifications', 'list', ...place])
    expect(verifications).toMatchObject([{ id, username: 'alice', proof: 'I am\n\u001b[2JAlice.' }])
  })

  it('can be approved by an administrator, and rejected afterwards', async () => {
    const decided = await skillsteadJson(['verifications', 'decide', id, 'verified', '--note', 'We met.', ...place])
    expect(decided).toMatchObject({ id, status: 'verified', note: 'We met.' })
    expect((await alice.getMe()).verified).toEqual(['manual'])
    const again = await skillstead(['verifications', 'decide', id, 'verified', ...place])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toContain('cannot become verified. It may become: rejected.')
    const back = await skillstead(['verifications', 'decide', id, 'rejected', '--data', data])
    expect(back.stdout).toBe('The manual verification of alice is rejected.\n')
    expect((await alice.getMe()).verified).toEqual([])
  })

  it.each([
    [['verifications', 'decide', 'x', 'maybe'], "'maybe' is not a valid DECISION. Use one of verified, rejected."],
    [['verifications', 'decide', 'x'], 'DECISION is missing'],
    [
      ['verifications', 'list', '--status', 'open'],
      "'open' is not a valid value of --status. Use one of pending, verified, rejected.",
    ],
    [['serve', '--allow-networks', '10.0.0.0/8,example.com'], "'example.com' is not a network"],
    [['serve', '--allow-networks', '10.0.0.0/33'], "'10.0.0.0/33' is not a network"],
    [['serve', '--ca', 'missing.pem'], "'missing.pem' cannot be read."],
    [['start', '--ca', 'missing.pem'], "'missing.pem' cannot be read."],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const cwd = await makeFolder()
    const where = args[0] === 'start' ? [] : ['--data', 'made']
    const { code, stdout, stderr } = await skillstead([...args, ...where], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect((await skillstead(['verifications', 'list', '--data', 'made'], { cwd })).stderr).toContain(
      'There is no registry',
    )
  })

  it('requires that the file given to `serve --ca` contains certificates', async () => {
    const cwd = await makeFolder()
    for (const text of ['', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
      await writeFile(join(cwd, 'ca.pem'), text)
      const { code, stderr } = await skillstead(['serve', '--data', 'made', '--ca', 'ca.pem'], { cwd })
      expect({ code, stderr }).toEqual({ code: 2, stderr: "'ca.pem' contains no certificates in PEM form.\n" })
    }
  })
})
