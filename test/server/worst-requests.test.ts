import { openNode as openRoutes } from '../../packages/server/src/node.ts'
import { openNode, type Fixture } from '../support/server-harness.ts'
import { fillWorst, listWorstRequests, type WorstSizes } from '../support/worst-requests.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Routes without a request of their own, by the reason why none can be worse than those of others. */
const exceptions: Readonly<Record<string, string>> = {
  'Reads one row and those of a page of at most 100, as lists with a request do': `
    /api/v1/organisations/:organisation/teams /api/v1/skills/:name/installers /api/v1/stars /api/v1/users/me/skills /api/v1/skills/:name/collaborators /api/v1/invitations /api/v1/transfers
    /api/v1/skills/:name/shares /api/v1/skills/:name/agent-reviews /api/v1/skills/:name/reviews
    /api/v1/skills/:name/versions/:version/evaluations
    /api/v1/skills/:name/issues /api/v1/skills/:name/moderation /api/v1/moderation /api/v1/reports /api/v1/copy-reports
    /api/v1/quarantine /api/v1/quarantine/:id /api/v1/agents/:agentKey /api/v1/requests /api/v1/requests/:id
    /api/v1/votes /api/v1/api-keys /api/v1/users/me /api/v1/users /api/v1/audit /api/v1/users/:username/reputation
    /api/v1/users/:username/verifications /api/v1/verifications /api/v1/dmca /api/v1/dmca/:id /api/v1/external/:id
    /api/v1/webhooks /api/v1/webhooks/:id /api/v1/webhooks/:id/deliveries/:deliveryId /api/v1/key
    /api/v1/organisations /api/v1/organisations/:organisation /api/v1/organisations/:organisation/members
    /api/v1/invitations/organisations
    /clawhub/api/v1/skills/:slug/moderation /clawhub/api/v1/skills/:slug/install /clawhub/api/v1/skills/:slug
    /clawhub/api/v1/skills/:slug/versions/:version /clawhub/api/v1/skills/-/reports
    /clawhub/api/v1/transfers/incoming /clawhub/api/v1/transfers/outgoing`,
  'Writes a few rows, and reads a body of a few kB': `
    /api/v1/skills/:name/versions/:version/evaluations/:username
    /api/v1/skills/:name/star /api/v1/skills/:name/collaborators/:username /api/v1/skills/:name/collaborators/accept
    /api/v1/skills/:name/recalls/:id
    /api/v1/skills/:name/transfer /api/v1/skills/:name/transfer/accept /api/v1/skills/:name/shares/:id
    /api/v1/skills/:name/agent-reviews/:id/helpful /api/v1/skills/:name/report-copy /api/v1/skills/:name/report
    /api/v1/skills/:name/appeal /api/v1/reports/:id /api/v1/copy-reports/:id /api/v1/quarantine/:id/release
    /api/v1/agents/:agentKey/token /api/v1/requests/:id/vote /api/v1/api-keys/:id /api/v1/session
    /api/v1/sessions /api/v1/sessions/:id
    /api/v1/organisations/:organisation/members/:username /api/v1/organisations/:organisation/accept
    /api/v1/organisations/:organisation/teams/:team /api/v1/organisations/:organisation/policy
    /api/v1/skills/:name/policy /api/v1/quarantine/:id/review /api/v1/quarantine/:id/comments
    /api/v1/trusted-publishers /api/v1/trusted-publishers/:id
    /api/v1/users/:username/follow /api/v1/users/:username/keys /api/v1/users/:username/verify
    /api/v1/verifications/:id /api/v1/dmca/:id/counter-notice /api/v1/webhooks/:id/deliveries/:deliveryId/retry
    /api/v1/webhooks/:id/ping /api/v1/setup /clawhub/api/v1/skills/:slug/undelete
    /clawhub/api/v1/skills/:slug/versions/:version/restore /clawhub/api/v1/stars/:slug
    /clawhub/api/v1/skills/:slug/report /clawhub/api/v1/skills/-/reports/:id/triage
    /clawhub/api/cli/telemetry/install /clawhub/api/v1/skills/:slug/transfer
    /clawhub/api/v1/skills/:slug/transfer/accept /clawhub/api/v1/skills/:slug/transfer/reject
    /clawhub/api/v1/skills/:slug/transfer/cancel /api/cli/device/code /api/cli/device/token /api/cli/device/show
    /api/cli/device/decide`,
  'Sends or takes one file or publishes one version, as routes with a request do': `
    /api/v1/skills/:name/fork /api/v1/quarantine/:id/diff /api/v1/quarantine/:id/files/**:path /api/v1/users/:username/avatar
    /api/v1/rules.bundle /api/v1/tile/**:path /clawhub/api/v1/skills/:slug/file /clawhub/api/v1/skills/-/upload-url
    /clawhub/api/v1/uploads/:ticket`,
  'Only for moderators and operators, who may make a node work': `
    /api/v1/audit/export /api/v1/scans /api/v1/external/scan /api/v1/operator/overview /api/v1/operator/outbox
    /api/v1/organisations/:organisation/policy/test
    /api/v1/operator/outbox/:id/retry /api/v1/operator/storage /api/v1/operator/rate-limits /api/v1/operator/backups
    /api/v1/mirrors /api/v1/mirrors/:upstream /api/v1/mirrors/:upstream/sync /api/v1/mirrors/:upstream/writes
    /api/v1/mirrors/:upstream/writes/:id`,
  'Sends a static file, or reads what a route with a request reads': `
    / /skills/:owner/:name /skills/:owner/:name/:tab /packs /packs/:slug /trending /agents /agents/:agentKey /users
    /users/:username /organisations/:name /organisations/:name/:section /requests /external /takedowns /takedowns/:id /account /account/reviews/:id /account/webhooks/:id /account/** /device /admin
    /admin/mirrors/:upstream /admin/users/:username /admin/** /_components
    /assets/:file /licenses.md /robots.txt /t/:token /docs /docs/:guide /docs/api/:operation /docs/guides/**`,
  'Reads a thousand names at a time, once in ten minutes': '/sitemap.xml',
  'Answers without reading a list': `
    /healthz /readyz /badge/:owner/:file /apm/v1/packages/:owner/:repo/versions/:version /.well-known/clawhub.json
    /.well-known/clawdhub.json /clawhub/api/v1/whoami /clawhub/api/v1/skills/:slug/rename
    /clawhub/api/v1/skills/:slug/merge /clawhub/api/v1/skills/:slug/tags/:tag /clawhub/api/v1/skills/-/scan
    /clawhub/api/v1/skills/-/scan/** /clawhub/api/v1/publishers /clawhub/api/v1/publishers/**
    /clawhub/api/v1/users/** /clawhub/api/v1/packages /clawhub/api/v1/packages/** /clawhub/api/v1/code-plugins/**
    /clawhub/api/v1/bundle-plugins/** /clawhub/api/v1/skills-sh/** /clawhub/api/v1/promotions/**
    /clawhub/api/v1/publish/** /git/:repository/git-receive-pack /git/:repository/HEAD
    /git/:repository/objects/**:path /git/:owner/:repository/git-receive-pack /git/:owner/:repository/HEAD
    /git/:owner/:repository/objects/**:path /npm/-/ping /npm/-/whoami /v2
    /npm/-/npm/v1/security/advisories/bulk /npm/-/npm/v1/security/audits /npm/-/npm/v1/security/audits/quick`,
  'Does for another scope what a route with a request does for an owner or a pack': `
    /.well-known/agent-skills/index.json /.well-known/agent-skills/:holder/:file /.well-known/skills/index.json
    /.well-known/skills/:member/**:rest /packs/:slug/.well-known/agent-skills/:holder/:file
    /packs/:slug/.well-known/skills/:member/**:rest /t/:token/.well-known/agent-skills/index.json
    /t/:token/.well-known/agent-skills/:file /t/:token/.well-known/skills/index.json
    /t/:token/.well-known/skills/:member/**:rest /:owner/:skill/.well-known/skills/:member/**:rest
    /.claude-plugin/marketplace.json /.claude-plugin/:holder/:file /packs/:slug/.claude-plugin/:holder/:file
    /t/:token/.claude-plugin/marketplace.json /t/:token/.claude-plugin/:file`,
}

/** `pnpm bench blocked` sends the same requests for a catalogue that is as large as they may meet. */
const small: WorstSizes = {
  skills: 12,
  files: 4,
  wideSkills: 2,
  packs: 3,
  packSkills: 10,
  versions: 205,
  wideVersions: 3,
  wideFiles: 40,
  documentBytes: 200_000,
  pictureBytes: 100_000,
  items: 1000,
  values: 20_000,
}

/** Matches the paths of a route. */
function toExpression(pattern: string): RegExp {
  const segments = pattern.replaceAll('.', '[.]').replaceAll(/\*\*(?::[A-Za-z]+)?/g, '.*')
  return new RegExp(`^${segments.replaceAll(/:[A-Za-z]+/g, '[^/]+')}$`)
}

describe('the worst valid requests', () => {
  let fixture: Fixture & { close(): Promise<void> }
  let key: string
  beforeAll(async () => {
    fixture = await openNode()
    key = await fillWorst(fixture.registry, small)
  })
  afterAll(() => fixture.close())

  it('are answered', async () => {
    const wrong: string[] = []
    for (const { title, status = 200, request } of await listWorstRequests(fixture.node.url, small, key)) {
      const response = await request(fixture.node.url)
      const text = await response.text()
      if (response.status !== status) wrong.push(`${title}: ${response.status}, ${text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })

  it('exist for every route, or the test states why the route has none', async () => {
    const dashboard = new Map([['index.html', () => Buffer.from('')]])
    const { patterns } = openRoutes(fixture.registry, { discoveryPack: 'pack-0', dashboard })
    const sent = (await listWorstRequests(fixture.node.url, small, key)).map(({ path }) => path.split('?')[0]!)
    const named = new Set(Object.values(exceptions).flatMap((list) => list.trim().split(/\s+/)))
    const isSent = (pattern: string) => sent.some((path) => toExpression(pattern).test(path))
    // The API has each route of a skill for both forms of its name.
    const routes = [
      ...new Set([...patterns].map((pattern) => pattern.replace('/v1/skills/:owner/:name', '/v1/skills/:name'))),
    ]
    expect(routes.filter((pattern) => !isSent(pattern) && !named.has(pattern))).toEqual([])
    expect(
      [...named].filter((pattern) => !routes.includes(pattern) || isSent(pattern)),
      'needless',
    ).toEqual([])
  })

  it('do not delay other requests, even if one of them has a thousand parts', async () => {
    const requests = await listWorstRequests(fixture.node.url, small, key)
    const batch = requests.find(({ title }) => title.startsWith('POST /blobs/batch'))!
    const order: string[] = []
    const response = await batch.request(fixture.node.url)
    const other = fetch(`${fixture.node.url}/healthz`).then(() => order.push('other'))
    await response.text()
    order.push('heavy')
    await other
    expect(order).toEqual(['other', 'heavy'])
  })
})
