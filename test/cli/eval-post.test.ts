import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { toDigest } from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'
import { startExchangingNode } from '../support/ci-issuer.ts'
import { exactCase, findingAgent, makeEvalSkill, readAppended } from '../support/eval-skill.ts'
import { skillstead } from '../support/cli-harness.ts'
import { startNode } from '../support/server-harness.ts'

/** A node with the skill of the folder as alice/answers@1.0.0, and what results it has. */
async function startPosting(folder: string) {
  const { node, key } = await startNode()
  const api = createClient({ baseUrl: node.url, apiKey: key })
  const place = ['--url', node.url, '--key', key]
  expect((await skillstead(['publish', folder, ...place, '--version', '1.0.0'])).stderr).toBe('')
  const listPosted = async () => {
    const { evaluations } = await api.listEvaluations({ name: 'alice/answers', version: '1.0.0' })
    return evaluations
  }
  return { api, listPosted, place: [...place, '--post', 'alice/answers@1.0.0', '--model', 'sonnet-5'] }
}

describe('skillstead eval --post', () => {
  it('posts the counts and digests for the version, and no transcript', async () => {
    const skill = await makeEvalSkill([exactCase, { ...exactCase, id: 'b', assertions: ['Is polite'] }])
    const { listPosted, place } = await startPosting(skill.folder)
    const usage = { type: 'result', result: '42', usage: { input_tokens: 3, output_tokens: 4 } }
    const agent = await skill.program('agent', `#!/bin/sh\necho secret-token >&2\necho '${JSON.stringify(usage)}'\n`)
    const args = ['--agent', agent, '--runs', '2', ...place]
    const report = await skill.report(args)
    const posted = await listPosted()
    expect(posted).toEqual([
      {
        author: { username: 'alice' },
        byOwner: true,
        version: '1.0.0',
        digest: report.skill.digest,
        runner: expect.stringMatching(/^skillstead eval \d+\.\d+\.\d+$/),
        model: 'sonnet-5',
        ranAt: report.ranAt,
        cases: 1,
        withSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
        withoutSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
        transcripts: toDigest(await readFile(join(report.folder, 'transcripts.sha256'))),
        postedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ])
    expect(JSON.stringify(posted)).not.toContain('secret-token')
    // The same command runs nothing again, and its result is one that the node has.
    await skill.report(args)
    expect(await listPosted()).toEqual(posted)
  })

  it('refuses a folder that is not the version before any agent runs', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { listPosted, place } = await startPosting(skill.folder)
    const ran = join(skill.folder, '../ran')
    const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\n`)
    const other = await makeEvalSkill([{ ...exactCase, prompt: 'Other.' }])
    const { code, stderr } = await other.evaluate(['--agent', agent, ...place])
    expect(stderr).toMatch(/The folder is not alice\/answers@1\.0\.0: its digest is sha256:/)
    expect({ code, ran: await readAppended(ran), posted: await listPosted() }).toEqual({ code: 1, ran: [], posted: [] })
    const missing = place.map((word) => word.replace('@1.0.0', '@2.0.0'))
    expect((await skill.evaluate(['--agent', agent, ...missing])).code).toBe(1)
    expect(await readAppended(ran)).toEqual([])
  })

  it.each(['GitHub', 'a token that can be exchanged once'])(
    'posts with the identity of a CI job, of %s, which is checked before any agent runs',
    async (service) => {
      const skill = await makeEvalSkill([exactCase])
      const ci = await startExchangingNode()
      const { key } = await ci.alice.createApiKey({ name: 'x' })
      const url = ['--url', ci.node.url]
      const publish = ['publish', skill.folder, ...url, '--key', key, '--organisation', 'acme', '--version', '1.0.0']
      expect((await skillstead(publish)).stderr).toBe('')
      const env: Record<string, string> =
        service === 'GitHub'
          ? {
              ACTIONS_ID_TOKEN_REQUEST_URL: `${ci.issuer.url}/job-token?api-version=2.0`,
              ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
            }
          : { SKILLSTEAD_ID_TOKEN: ci.issuer.token({ aud: ci.node.url }) }
      const ran = join(skill.folder, '../ran')
      const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\necho 42\n`)
      const args = ['--agent', agent, '--runs', '1', '--model', 'sonnet-5', ...url]
      const nameless = await skill.evaluate([...args, '--post', 'answers@1.0.0'], { env })
      expect(nameless).toMatchObject({ code: 2, stderr: expect.stringContaining('--post OWNER/NAME@VERSION') })
      const post = ['--post', 'acme/answers@1.0.0']
      expect((await skill.evaluate([...args, ...post], { env })).stderr).toContain('does not accept the token')
      expect(await readAppended(ran)).toEqual([])
      await ci.trust('acme')
      const { stderr } = await skill.evaluate([...args, ...post], { env })
      expect(stderr).toContain('Posted the result for acme/answers@1.0.0.')
      const { evaluations } = await ci.alice.listEvaluations({ name: 'acme/answers', version: '1.0.0' })
      expect(evaluations).toHaveLength(1)
    },
  )

  it('posts nothing if more than 5 % of the runs failed, as without a login of the agent', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { listPosted, place } = await startPosting(skill.folder)
    const agent = await skill.program('agent', '#!/bin/sh\ntest -d .claude && echo 42\n')
    const { code, stderr } = await skill.evaluate(['--agent', agent, '--runs', '2', ...place])
    expect(stderr).toMatch(/The result was not posted: more than 5 % of the runs of the agent failed/)
    expect({ code, posted: await listPosted() }).toEqual({ code: 1, posted: [] })
  })

  it('reports why the node refuses a result, and where the result is', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { place, listPosted, api } = await startPosting(skill.folder)
    const agent = await skill.program('agent', findingAgent('no'))
    await skill.report(['--agent', agent, '--runs', '1', ...place])
    const [posted] = await listPosted()
    const { digest, runner, model, cases, withSkill } = posted!
    const later = { digest, runner, model, cases, withSkill, ranAt: new Date(Date.now() + 60_000).toISOString() }
    await api.createEvaluation({ name: 'alice/answers', version: '1.0.0', ...later })
    const { code, stderr } = await skill.evaluate(['--agent', agent, '--runs', '2', ...place])
    expect(stderr).toMatch(
      /The result was not posted, but is in .*answers-workspace\/\w{16}: Your result of .* is as late or later\./,
    )
    expect(code).toBe(1)
  })
})
