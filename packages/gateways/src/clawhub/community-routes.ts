import { RegistryError, keysOf } from '@skillstead/protocol'
import { requireText, readTextField } from '../body-fields.ts'
import { answerOk, type Asked, nameIn, type RouteTable, toClawhubAnswer } from './route-table.ts'
import { toMs } from './shapes.ts'

/** Routes for the caller's account, stars, reports, and the installs that clients report. */
export const communityRoutes: RouteTable = {
  '/api/v1/whoami': { GET: showCaller },
  '/api/v1/stars/:slug': { POST: starClawhubSkill, DELETE: unstarClawhubSkill },
  '/api/v1/skills/:slug/report': { POST: reportClawhubSkill },
  '/api/v1/skills/-/reports': { GET: listClawhubReports },
  '/api/v1/skills/-/reports/:id/triage': { POST: decideClawhubReport },
  // Reported installs are ignored, because the download of the files was already counted.
  '/api/cli/telemetry/install': { POST: answerOk },
}

async function showCaller({ api }: Asked) {
  const { username, displayName, avatarUrl, role } = await api.getMe()
  return toClawhubAnswer({ user: { handle: username, displayName, image: avatarUrl, role } })
}

async function starClawhubSkill(asked: Asked) {
  const name = nameIn(asked)
  const { starred: alreadyStarred } = await asked.api.getStar({ name })
  await asked.api.starSkill({ name })
  return toClawhubAnswer({ ok: true, starred: true, alreadyStarred })
}

async function unstarClawhubSkill(asked: Asked) {
  const name = nameIn(asked, await asked.readFields())
  const { starred } = await asked.api.getStar({ name })
  await asked.api.unstarSkill({ name })
  return toClawhubAnswer({ ok: true, unstarred: true, alreadyUnstarred: !starred })
}

/** Maximum length of the reason of a report; the rest of a longer text becomes the details. */
const reasonCharactersMax = 100

async function reportClawhubSkill(asked: Asked) {
  const fields = await asked.readFields()
  const name = nameIn(asked, fields)
  const [text, version] = [requireText(fields, 'reason'), readTextField(fields, 'version')]
  const details = [version && `Version ${version}.`, text.length > reasonCharactersMax && text]
    .filter(Boolean)
    .join(' ')
  const reason = text.slice(0, reasonCharactersMax).toWellFormed()
  const { id: skillId } = await asked.api.getSkill({ name })
  const { id } = await asked.api.reportSkill({ name, reason, details })
  return toClawhubAnswer({ ok: true, reported: true, alreadyReported: false, reportId: id, skillId, reportCount: 1 })
}

const statuses = { open: 'open', upheld: 'confirmed', dismissed: 'dismissed' } as const

/** Lists reports for `clawhub skill reports`, a command of administrators. */
async function listClawhubReports({ api, query }: Asked) {
  const wanted = query.get('status') ?? 'open'
  const status = keysOf(statuses).find((key) => statuses[key] === wanted)
  const page = Number(query.get('cursor') ?? 1)
  const limit = Math.min(Number(query.get('limit') ?? 25), 100)
  const read = await api.listReports({ kind: 'report', status, page, limit })
  return toClawhubAnswer({
    items: read.reports.map((one) => ({
      reportId: one.id,
      skillId: one.skill.fullName,
      slug: one.skill.fullName,
      displayName: one.skill.fullName,
      reason: [one.reason, one.details].filter(Boolean).join(': '),
      status: statuses[one.status],
      createdAt: toMs(one.createdAt),
      reporter: { userId: one.reporter?.username ?? 'guest', handle: one.reporter?.username ?? null },
      triagedAt: one.decidedAt === null ? null : toMs(one.decidedAt),
      triageNote: one.note,
    })),
    nextCursor: page < read.totalPages ? `${page + 1}` : null,
    done: page >= read.totalPages,
  })
}

/** Hides a reported skill or dismisses the report. Throws `invalid_request` for any other decision. */
async function decideClawhubReport({ api, params: { id = '' }, readFields }: Asked) {
  const fields = await readFields()
  const [status, action] = [requireText(fields, 'status'), readTextField(fields, 'finalAction') ?? 'none']
  const isHidden = status === 'confirmed' && action === 'hide'
  if (!isHidden && !(status === 'dismissed' && action === 'none')) {
    throw new RegistryError(
      'invalid_request',
      'This registry either hides the skill or dismisses the report: pass --status confirmed --action hide, or --status dismissed.',
    )
  }
  const note = readTextField(fields, 'note') ?? ''
  const { skill } = await api.decideReport({ id, status: isHidden ? 'upheld' : 'dismissed', note })
  return toClawhubAnswer({
    ok: true,
    reportId: id,
    skillId: skill.fullName,
    status,
    reportCount: 1,
    actionTaken: action,
  })
}
