import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { installProgram, type NpmProgram } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'

vi.setConfig({ testTimeout: 240_000 })

/** The scenarios of the official suite that apply to a node. All their checks pass, except those in `notTestable`. */
const applicable = [
  'caching',
  'dns-rebinding-protection',
  'http-header-validation',
  'input-required-result-unsupported-methods',
  'ping',
  'resources-list',
  'sep-2164-resource-not-found',
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'server-initialize',
  'server-stateless',
  'tools-list',
]

/** Checks of applicable scenarios that fail, with the reason. */
const notTestable: Record<string, string> = {
  // A node has no prompts.
  'sep-2549-prompts-list-caching-hints': 'prompts/list returned JSON-RPC error -32601',
  // They call tools of the suite's own server, named `test_*`.
  'sep-2575-server-rejects-undeclared-capability': 'Not testable: server does not list the diagnostic tool',
  'sep-2575-missing-capability-http-400': 'Not testable: server does not list the diagnostic tool',
  'sep-2575-http-server-no-independent-requests-on-stream': 'Not testable: server does not list the diagnostic tool',
  'sep-2575-server-no-log-without-loglevel': 'Not testable: server does not list the diagnostic tool',
}

/** The scenarios that do not apply, by reason. */
const inapplicable: Record<string, string[]> = {
  'They call tools of the suite’s own server, such as `test_simple_text`.': [
    'http-custom-header-server-validation',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-list-roots',
    'input-required-result-basic-sampling',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-multi-round',
    'input-required-result-multiple-input-requests',
    'input-required-result-request-state',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-validate-input',
    'json-schema-2020-12',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-error',
    'tools-call-image',
    'tools-call-mixed-content',
    'tools-call-simple-text',
    'tools-call-with-logging',
    'tools-call-with-progress',
  ],
  'They call tools that ask the client for samples or input; a node asks a client for nothing.': [
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'tools-call-elicitation',
    'tools-call-sampling',
  ],
  'They read resources of the suite’s own server, such as `test://static-text`.': [
    'resources-read-binary',
    'resources-read-text',
    'resources-templates-read',
  ],
  'A node has no prompts and no completions.': [
    'completion-complete',
    'input-required-result-non-tool-request',
    'prompts-get-embedded-resource',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-with-image',
    'prompts-list',
  ],
  'A node is stateless: it has no sessions, sends no logs, and notifies of no changes.': [
    'logging-set-level',
    'resources-subscribe',
    'resources-unsubscribe',
    'server-session-lifecycle',
    'server-sse-multiple-streams',
    'server-sse-polling',
  ],
  'A node does not declare these optional extensions: reading of directories, and tasks.': [
    'sep-2640-skills-directory',
    'tasks-capability-negotiation',
    'tasks-dispatch-and-envelope',
    'tasks-lifecycle',
    'tasks-mrtr-composition',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-request-state-removal',
    'tasks-required-task-error',
    'tasks-status-notifications',
    'tasks-wire-fields',
  ],
}

interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  readonly errorMessage?: string
}

let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  node = await openNode()
  const files = [{ path: 'scripts/fill form.py', content: 'pass\n' }]
  const skillMd = '---\nname: tea\ndescription: Makes tea\nmetadata:\n  steeping: three minutes\n---\n# Tea\n'
  await node.api.publishSkill({ skillMd, files })
  await node.api.publishSkill({ skillMd: skillMd.replace('tea', 'secret'), visibility: 'private' })
})
afterAll(() => node.close())

/** The checks of all server scenarios against the node, by scenario. */
async function runSuite(program: NpmProgram, ...options: string[]): Promise<Map<string, Check[]>> {
  const folder = await makeFolder()
  const env = { HOME: folder, DISABLE_TELEMETRY: '1', DO_NOT_TRACK: '1' }
  const args = ['server', '--url', `${node.node.url}/mcp`, '--suite', 'all', '-o', folder, ...options]
  const { stderr } = await program.run(args, { cwd: folder, env })
  const results = new Map<string, Check[]>()
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1]
    if (scenario === undefined) continue
    results.set(scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[])
  }
  expect(results.size, stderr).toBeGreaterThan(0)
  return results
}

/** Asserts that the scenarios that apply pass, and that those that do not are all known. Returns those that ran. */
function judge(results: Map<string, Check[]>, expected = applicable): string[] {
  const known = new Set([...applicable, ...Object.values(inapplicable).flat()])
  expect([...results.keys()].filter((scenario) => !known.has(scenario))).toEqual([])
  const ran = expected.filter((scenario) => results.has(scenario))
  for (const scenario of ran) {
    const checks = results.get(scenario)!
    const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    const unexpected = bad.filter(({ id, errorMessage = '' }) => {
      const reason = notTestable[id]
      return reason === undefined || !errorMessage.startsWith(reason)
    })
    expect(unexpected, scenario).toEqual([])
    expect(checks.filter(({ status }) => status === 'SUCCESS').length, scenario).toBeGreaterThan(0)
  }
  for (const scenario of Object.values(inapplicable).flat()) {
    const { status } = results.get(scenario)?.find(({ id }) => id === 'wire-schema-valid') ?? {}
    expect(status ?? 'SUCCESS', `messages of ${scenario}`).toBe('SUCCESS')
  }
  return ran
}

it('the MCP conformance suite passes for revisions 2025-11-25 and 2026-07-28 and the skills extension', async () => {
  // The first version with the revision 2026-07-28, the extensions, and the schema of all messages.
  const suite = await installProgram('@modelcontextprotocol/conformance@0.2.0-alpha.12', 'conformance')
  // Without a revision each scenario runs with the latest released one that has it.
  const all = await runSuite(suite)
  expect(judge(all)).toEqual(applicable)
  expect([...all.keys()].toSorted()).toEqual([...applicable, ...Object.values(inapplicable).flat()].toSorted())
  // This one needs no session from this revision on.
  const streams = 'server-sse-multiple-streams'
  const ran = judge(await runSuite(suite, '--spec-version', '2026-07-28'), [...applicable, streams])
  const former = ['ping', 'server-initialize']
  const extension = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest']
  expect([...ran, ...former, ...extension].toSorted()).toEqual([...applicable, streams].toSorted())
})

it('the latest release of the MCP conformance suite passes', async () => {
  const suite = await installProgram('@modelcontextprotocol/conformance@0.1.16', 'conformance')
  const ran = judge(await runSuite(suite))
  expect(ran).toEqual(['dns-rebinding-protection', 'ping', 'resources-list', 'server-initialize', 'tools-list'])
})
