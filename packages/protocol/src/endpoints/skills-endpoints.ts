import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { loadLevels } from '../load-levels.ts'
import {
  ContentBody,
  Count,
  Flag,
  NoContent,
  SkillName,
  SkillRef,
  Term,
  ReadVersion,
  Version,
  boundedArray,
  commaList,
  pageLimit,
  page,
  pageFields,
  readableText,
  boundedText,
  wholeNumber,
  Username,
} from '../schemas/fields.ts'
import { SkillDiff } from '../schemas/access.ts'
import { Provenance } from '../schemas/provenance.ts'
import { Resolution, ResolveInput } from '../schemas/requires.ts'
import { QuarantinedVersion } from '../schemas/quarantine.ts'
import { filterParameters } from '../schemas/search-filters.ts'
import { SearchContext } from '../schemas/search-context.ts'
import { Similarity } from '../schemas/similarity.ts'
import { loadedSkill } from '../schemas/loading.ts'
import {
  Downloads,
  Installers,
  SearchResult,
  Skill,
  SkillDetails,
  SkillVersion,
  Visibility,
  PathReason,
  Warning,
  skillSorts,
} from '../schemas/skill.ts'

const name = { name: SkillRef }
const nameInput = v.strictObject(name)
const versioned = v.object({ ...name, version: ReadVersion })
/** `allowRecalled`: whether a recalled version is read instead of refused. */
const readContent = { ...name, version: ReadVersion, allowRecalled: v.optional(Flag, false) }

const PublishFile = v.strictObject({
  path: v.string(),
  content: v.string(),
  encoding: v.optional(v.picklist(['utf8', 'base64']), 'utf8'),
  /** Whether the file may be run as a program. Default: whether it begins with `#!`. */
  executable: v.optional(v.boolean()),
})

const metadataFields = {
  description: v.optional(readableText(limits.descriptionCharactersMax)),
  displayName: v.optional(readableText(limits.displayNameCharactersMax)),
  category: v.optional(readableText(64, 0)),
  license: v.optional(readableText(128, 0)),
  keywords: v.optional(commaList(limits.keywordsMax)),
  visibility: v.optional(Visibility),
  /** The owning organisation, if only its members may see an `internal` skill; empty: all users of the node. */
  organisation: v.optional(v.union([v.literal(''), Username])),
  deprecated: v.optional(Flag),
  deprecationMessage: v.optional(readableText(1000, 0)),
  repository: v.optional(
    v.union([
      v.literal(''),
      v.pipe(v.string(), v.maxLength(500), v.regex(/^https?:\/\//, 'must be an http or https URL'), v.url()),
    ]),
  ),
}

const PublishInput = v.strictObject({
  skillMd: v.optional(v.string()),
  name: v.optional(
    v.union(
      [SkillName, v.pipe(v.string(), v.regex(/^[a-z0-9-]+\/[a-z0-9-]+$/))],
      'must be a skill name, or owner/name',
    ),
  ),
  /** The organisation for which the skill is published. Default: the owner in `name`, else the caller. */
  owner: v.optional(Username),
  /** Whether a name in SKILL.md that is not valid may become the valid name that an error proposes. */
  normalizeName: v.optional(Flag),
  version: v.optional(Version),
  ...metadataFields,
  changelog: v.optional(readableText(limits.changelogCharactersMax, 0)),
  files: v.optional(boundedArray(PublishFile, limits.publishFilesMax)),
  dryRun: v.optional(Flag, false),
  /** The bytes of an uploaded archive; not a field of a JSON body. */
  archive: v.optional(
    v.strictObject({ contentType: v.picklist(['application/zip', 'application/gzip']), body: v.instance(Uint8Array) }),
  ),
})

export const PublishOutput = v.object({
  skill: SkillDetails,
  version: SkillVersion,
  created: v.boolean(),
  warnings: v.array(Warning),
  /** Entries of the package that the version omits: links out of the package, nested skills, files of tools. */
  omitted: v.array(PathReason),
  /** Entries whose stored content differs from the package: a link is stored as the file that it leads to. */
  changed: v.array(PathReason),
  /**
   * The quarantined version, if an administrator or the reviewers must release it first; `skill` and `version` then
   * preview the result.
   */
  quarantined: v.optional(QuarantinedVersion),
})

const searchParameters = {
  page,
  limit: pageLimit(),
  sort: v.optional(v.picklist(skillSorts)),
  ...filterParameters,
  explain: v.optional(Flag, false),
  facets: v.optional(Flag, false),
}

/** Skills (docs/api.md#skills): search, reading, publishing. */
export const skillEndpoints = toEndpoints('Skills', {
  searchSkills: {
    auth: 'none',
    summary: 'Search skills',
    costly: 'q',
    input: v.object({ q: v.optional(boundedText(limits.queryCharactersMax, 0), ''), ...searchParameters }),
    output: SearchResult,
  },
  searchByNeed: {
    auth: 'none',
    summary: 'Search skills, as GET /skills does, by a described need that is too long for an address',
    costly: true,
    input: v.strictObject({
      q: v.optional(boundedText(limits.needCharactersMax, 0), ''),
      context: v.optional(SearchContext),
      ...searchParameters,
    }),
    output: SearchResult,
  },
  suggest: {
    auth: 'none',
    summary: 'Suggest completions for a search box, best first',
    input: v.object({ q: boundedText(200, 0), limit: pageLimit(8, 20) }),
    output: v.object({ suggestions: v.array(v.string()), total: Count }),
  },
  listCategories: {
    auth: 'none',
    summary: 'List the categories in use with their number of skills',
    input: v.object({}),
    output: v.object({ categories: v.array(v.object({ name: v.string(), count: Count })), total: Count }),
  },
  publishSkill: {
    auth: 'key',
    scope: 'publish',
    // 202: an administrator or the reviewers must release the version first.
    status: [201, 200, 202],
    summary: 'Publish a new skill or version, or update the metadata of a skill',
    uploads: ['application/zip', 'application/gzip'],
    bodyBytesMax: limits.bodyBytesMax,
    input: PublishInput,
    output: PublishOutput,
  },
  getSkill: {
    auth: 'none',
    summary: 'Show a skill',
    input: versioned,
    output: SkillDetails,
  },
  deleteSkill: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Delete a skill; its name stays reserved',
    input: nameInput,
    output: NoContent,
  },
  getSkillMd: {
    auth: 'none',
    summary: 'Read the SKILL.md of a version; counts as a download',
    input: v.object(readContent),
    output: ContentBody,
  },
  getArchive: {
    auth: 'none',
    summary: 'Download a version as a byte-for-byte reproducible zip; counts as a download',
    input: v.object(readContent),
    output: ContentBody,
  },
  getFile: {
    auth: 'none',
    summary: 'Read one file of a version',
    input: v.object({ ...readContent, path: boundedText(1024) }),
    output: ContentBody,
  },
  listVersions: {
    auth: 'none',
    summary: 'List the versions of a skill, highest first',
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: v.object({ versions: v.array(SkillVersion), ...pageFields }),
  },
  getVersion: {
    auth: 'none',
    summary: 'Show one version of a skill',
    input: v.object({ ...name, version: Term }),
    output: SkillVersion,
  },
  loadSkill: {
    auth: 'none',
    summary: 'Load as much of a skill as an agent needs',
    input: v.object({
      ...readContent,
      level: v.optional(v.picklist(loadLevels), 'full'),
      maxTokens: v.optional(wholeNumber(0, 10_000_000)),
      priority: v.optional(commaList(100)),
    }),
    output: loadedSkill,
  },
  diffSkill: {
    auth: 'none',
    summary: 'Compare two versions of a skill',
    costly: true,
    input: v.object({ ...name, from: Version, to: Version, allowRecalled: readContent.allowRecalled }),
    output: SkillDiff,
  },
  listForks: {
    auth: 'none',
    summary: 'List the forks of a skill, newest first',
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: v.object({ skills: v.array(Skill), ...pageFields }),
  },
  listDependents: {
    auth: 'none',
    summary: 'List the skills whose latest version requires a skill',
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: v.object({ skills: v.array(v.object({ ...Skill.entries, range: v.string() })), ...pageFields }),
  },
  resolveSkills: {
    auth: 'none',
    summary: 'Choose versions of skills and of everything that they require',
    volatile: true,
    input: ResolveInput,
    output: Resolution,
  },
  getDownloads: {
    auth: 'none',
    summary: 'Show the downloads of a skill per day (UTC), today last',
    volatile: true,
    input: v.object({
      ...name,
      days: v.optional(wholeNumber(1, 365), 30),
      /** Adds `groups` to the response; `client` is only for users who may manage the skill. */
      by: v.optional(v.picklist(['version', 'client'])),
    }),
    output: Downloads,
  },
  listInstallers: {
    auth: 'key',
    summary: 'List the users who installed your skill, latest first, if the operator records them',
    volatile: true,
    input: v.object({ ...name, page, limit: pageLimit() }),
    output: Installers,
  },
  getSimilarity: {
    auth: 'none',
    summary: 'List the skills that are similar to this one',
    costly: true,
    input: v.object(name),
    output: Similarity,
  },
  getProvenance: {
    auth: 'none',
    summary: 'Show who published a version and when, with the proof that the log contains it',
    /** `evaluations`: adds the proofs of the last results of evaluations. */
    input: v.object({ ...versioned.entries, evaluations: v.optional(Flag, false) }),
    output: Provenance,
  },
  getSbom: {
    auth: 'none',
    summary:
      'Read the bill of materials of a version: its files, the packages that it declares and its verdict, in CycloneDX 1.6',
    costly: true,
    input: versioned,
    output: ContentBody,
  },
})

/** The input of `PUT /skills`. */
export type PublishSkillInput = v.InferOutput<typeof PublishInput>
