import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { exactCase, findingAgent, makeEvalSkill, readAppended } from '../support/eval-skill.ts'
import { skillstead } from '../support/cli-harness.ts'
import { forwardRequest } from '../support/forward-request.ts'
import { isLong } from '../support/long.ts'
import { startNode } from '../support/server-harness.ts'

interface Posted {
  readonly path: string
  readonly key: string
  readonly body: Record<string, unknown>
}

/** A node with the skill of the folder as alice/answers@1.0.0; results that are posted get this response. */
async function startPosting(folder: string, status = 201, answer: object = {}) {
  const { node, key } = await startNode()
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    if (!request.url!.endsWith('/evaluations')) return forwardRequest(request, response, Number(new URL(node.url).port))
    const body = (await json(request)) as Posted['body']
    posted.push({ path: request.url!, key: request.headers.authorization!, body })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const place = ['--url', url, '--key', key]
  expect((await skillstead(['publish', folder, ...place, '--version', '1.0.0'])).stderr).toBe('')
  return { posted, key, place: [...place, '--post', 'alice/answers@1.0.0', '--model', 'sonnet-5'] }
}

describe('skillstead eval --post', () => {
  it('posts the counts and digests for the version, and no transcript', async () => {
    const skill = await makeEvalSkill([exactCase, { ...exactCase, id: 'b', assertions: ['Is polite'] }])
    const { posted, key, place } = await startPosting(skill.folder)
    const usage = { type: 'result', result: '42', usage: { input_tokens: 3, output_tokens: 4 } }
    const agent = await skill.program('agent', `#!/bin/sh\necho secret-token >&2\necho '${JSON.stringify(usage)}'\n`)
    const args = ['--agent', agent, '--runs', '2', ...place]
    const report = await skill.report(args)
    expect(posted).toEqual([
      {
        path: '/api/v1/skills/alice%2Fanswers/versions/1.0.0/evaluations',
        key: `Bearer ${key}`,
        body: {
          digest: report.skill.digest,
          runner: expect.stringMatching(/^skillstead eval \d+\.\d+\.\d+$/),
          model: 'sonnet-5',
          ranAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          cases: 1,
          withSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
          withoutSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
          transcripts: Array.from({ length: 4 }, () => expect.stringMatching(/^sha256:[0-9a-f]{64}$/)),
        },
      },
    ])
    expect(JSON.stringify(posted)).not.toContain('secret-token')
    // The same result has the same time, by which a node knows that it has it.
    await skill.report(args)
    expect(posted[1]).toEqual(posted[0])
  })

  it.runIf(isLong)('posts one digest, of the list, in place of those of more than 500 transcripts', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { posted, place } = await startPosting(skill.folder)
    await skill.report(['--agent', 'echo 42', '--runs', '251', '--parallel', '8', ...place])
    expect(posted[0]!.body).toMatchObject({
      withSkill: { runs: 251 },
      transcripts: [expect.stringMatching(/^sha256:/)],
    })
  })

  it('refuses a folder that is not the version before any agent runs', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { posted, place } = await startPosting(skill.folder)
    const ran = join(skill.folder, '../ran')
    const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\n`)
    const other = await makeEvalSkill([{ ...exactCase, prompt: 'Other.' }])
    const { code, stderr } = await other.evaluate(['--agent', agent, ...place])
    expect(stderr).toMatch(/The folder is not alice\/answers@1\.0\.0: its digest is sha256:/)
    expect({ code, ran: await readAppended(ran), posted }).toEqual({ code: 1, ran: [], posted: [] })
    const missing = place.map((word) => word.replace('@1.0.0', '@2.0.0'))
    expect((await skill.evaluate(['--agent', agent, ...missing])).code).toBe(1)
    expect(await readAppended(ran)).toEqual([])
  })

  it('posts nothing if all runs of a side failed, as without a login of the agent', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { posted, place } = await startPosting(skill.folder)
    const agent = await skill.program('agent', '#!/bin/sh\ntest -d .claude && echo 42\n')
    const { code, stderr } = await skill.evaluate(['--agent', agent, ...place])
    expect(stderr).toMatch(/The result was not posted: on one side, no run of the agent ended by itself/)
    expect({ code, posted }).toEqual({ code: 1, posted: [] })
  })

  it('reports why the node refuses a result, and where the result is', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { place } = await startPosting(skill.folder, 409, { detail: 'You posted a later result\u001b[31m.' })
    const { code, stderr } = await skill.evaluate([
      '--agent',
      await skill.program('agent', findingAgent('no')),
      ...place,
    ])
    expect(stderr).toMatch(
      /The result is in .*answers-workspace\/\w{16}, but the node refused it: You posted a later result\s?\[31m\./,
    )
    expect(code).toBe(1)
  })
})
