import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { ReportedAgent } from '../schemas/agent.ts'
import { ExternalSkill, Trending, externalRegistries, periods } from '../schemas/external.ts'
import { SarifLog, ScanReport } from '../schemas/security.ts'
import {
  Flag,
  NoContent,
  SkillRef,
  Term,
  boundedArray,
  pageLimit,
  page,
  pageFields,
  readableText,
  boundedText,
  wholeNumber,
} from '../schemas/fields.ts'

/** External skills, telemetry and trending skills (docs/api.md#external-skills-and-installs). */
export const externalEndpoints = {
  ...toEndpoints('External skills', {
    listExternal: {
      auth: 'none',
      summary: 'List indexed skills of other registries',
      input: v.object({
        registry: v.optional(v.picklist([...externalRegistries, 'all']), 'all'),
        verified: v.optional(Flag),
        page,
        limit: pageLimit(),
      }),
      output: v.object({ externalSkills: v.array(ExternalSkill), ...pageFields }),
    },
    scanExternal: {
      auth: 'key',
      summary: 'Scan a skill by its URL or its content',
      query: ['format'],
      bodyBytesMax: 12 * 1024 * 1024,
      input: v.strictObject({
        url: v.optional(boundedText(2000)),
        content: v.optional(v.pipe(v.string(), v.maxLength(limits.fileBytesMax))),
        format: v.optional(v.picklist(['json', 'sarif']), 'json'),
      }),
      output: v.union([ScanReport, SarifLog]),
    },
    addExternal: {
      auth: 'admin',
      scope: 'manage',
      status: [201, 200],
      summary: 'Index a skill of another registry by its URL, and scan it',
      input: v.strictObject({
        url: boundedText(2000),
        name: v.optional(readableText(128)),
        description: v.optional(readableText(limits.descriptionCharactersMax, 0)),
        author: v.optional(readableText(128)),
        installs: v.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
      }),
      output: ExternalSkill,
    },
    deleteExternal: {
      auth: 'admin',
      scope: 'manage',
      status: 204,
      summary: 'Remove a skill of another registry from the index',
      input: v.strictObject({ id: Term }),
      output: NoContent,
    },
  }),
  ...toEndpoints('Telemetry', {
    track: {
      auth: 'none',
      status: 202,
      summary: 'Record an install anonymously',
      input: v.strictObject({
        skillName: SkillRef,
        source: v.optional(v.picklist(['registry', 'github', 'external']), 'registry'),
        agents: v.optional(boundedArray(ReportedAgent, limits.trackAgentsMax), []),
        repoUrl: v.optional(v.pipe(v.string(), v.url(), v.maxLength(500))),
      }),
      output: v.object({ accepted: v.literal(true) }),
    },
    getTrending: {
      auth: 'none',
      summary: 'Show trending skills, by recent installs',
      input: v.object({
        period: v.optional(v.picklist(periods), 'week'),
        category: v.optional(Term),
        limit: pageLimit(10),
      }),
      output: Trending,
    },
  }),
}
