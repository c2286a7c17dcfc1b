import { type SearchResult, toShortName } from '@skillstead/protocol'
import { toJsonAnswer, type Answer, type GatewayCall, type GatewayHost } from '../gateway.ts'

/**
 * Answers `GET /api/search` with `q`, `limit` and `owner`: the catalogue's search, in the format of `skills find`
 * (`SKILLS_API_URL`).
 */
export async function answerSkillSearch(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const result = (await host.read(call, 'searchSkills')) as SearchResult
  const address = host.addressOf(call)
  const skills = result.skills.map(({ fullName, downloads }) => ({
    id: fullName,
    // The program `skills` installs a skill by its name in SKILL.md, which has no owner.
    skillId: toShortName(fullName),
    name: toShortName(fullName),
    installs: downloads,
    source: `${address}/${fullName}`,
  }))
  return toJsonAnswer(call, { skills })
}
